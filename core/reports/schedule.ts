import { dateAt, firstInstantOf } from '../time/first-instant.ts';
import { zoneClock } from '../time/zone-clock.ts';

export const SCHEDULES = ['day', 'week', 'month'] as const;

/** When a report is sent. */
export type Schedule = {
  every: (typeof SCHEDULES)[number];
  /** 1 (Monday) to 7; with `week` only. */
  weekday?: number;
  /** 1 to 31, in shorter months the last day; with `month` only. */
  day?: number;
  /** 0 to 23. */
  hour: number;
  /** IANA time zone of the hour, and of the days of the period. */
  time_zone: string;
};

/**
 * One sending of a report. `period`: the last whole day, week from Monday, or month before the day of the sending.
 * Milliseconds since the epoch.
 */
export type Run = { at: number; period: { from: number; to: number } };

const daysSinceMonday = (shown: number) => (new Date(shown).getUTCDay() + 6) % 7;
const daysOfMonth = (year: number, month: number) => new Date(Date.UTC(year, month, 0)).getUTCDate();

/** Returns the run that is `step` days, weeks or months after the one of the present day, week or month. */
function runsOf(schedule: Schedule, at: number): (step: number) => Run {
  const clock = zoneClock(schedule.time_zone);
  const today = dateAt(clock, at);
  const { year, month } = today;
  const monday = today.day - daysSinceMonday(clock(at));
  const start = (day: number, ofMonth = month) => firstInstantOf(clock, { year, month: ofMonth, day });
  const sent = (day: number, ofMonth = month) =>
    firstInstantOf(clock, { year, month: ofMonth, day }, schedule.hour);
  return (step) => {
    if (schedule.every === 'day') {
      const day = today.day + step;
      return { at: sent(day), period: { from: start(day - 1), to: start(day) } };
    }
    if (schedule.every === 'week') {
      const first = monday + 7 * step;
      const day = first + (schedule.weekday ?? 1) - 1;
      return { at: sent(day), period: { from: start(first - 7), to: start(first) } };
    }
    const next = month + step;
    const day = Math.min(schedule.day ?? 1, daysOfMonth(year, next));
    return { at: sent(day, next), period: { from: start(1, next - 1), to: start(1, next) } };
  };
}

/** A zone that crosses the date line skips a day, whose period would be empty. */
const isReal = ({ period }: Run) => period.from < period.to;

/** Returns the first run after an instant. @param after milliseconds since the epoch */
export function nextRun(schedule: Schedule, after: number): Run {
  const runOf = runsOf(schedule, after);
  for (let step = -1; ; step++) {
    const run = runOf(step);
    if (run.at > after && isReal(run)) return run;
  }
}

/** Returns the last run until an instant. @param now milliseconds since the epoch */
export function lastRun(schedule: Schedule, now: number): Run {
  const runOf = runsOf(schedule, now);
  for (let step = 1; ; step--) {
    const run = runOf(step);
    if (run.at <= now && isReal(run)) return run;
  }
}
