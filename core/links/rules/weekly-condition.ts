// Browsers run this file too.
import { badRequest } from '../../errors.ts';
import { readAll, readEach } from '../../faults.ts';
import { checkTimeZone } from '../../time/time-buckets.ts';
import { zoneClock } from '../../time/zone-clock.ts';
import type { ConditionKind } from './conditions.ts';
import type { ConditionInput } from './reading.ts';
import type { RuleTest, WeeklyCondition } from './types.ts';

/** Hours of days of the week. */
export const WEEKLY: ConditionKind<WeeklyCondition> = {
  label: 'Days and hours',
  about: 'days (1 is Monday) and hours in a time zone',
  fields: ['days', 'from', 'to', 'time_zone'],
  read: readWeekly,
  test: compileWeekly,
};

const TIME_OF_DAY = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

function readWeekly(path: string, given: ConditionInput): WeeklyCondition {
  const { days = [], time_zone: zone } = given;
  const readTimeOfDay = (name: 'from' | 'to', text: string | undefined): string => {
    if (text !== undefined && TIME_OF_DAY.test(text)) return text;
    throw badRequest(`${path}.${name}`, 'must be a time of day from 00:00 to 23:59');
  };
  return {
    type: 'weekly',
    ...readAll({
      days() {
        if (days.length === 0) throw badRequest(`${path}.days`, 'must have at least one day');
        const read = readEach(days, (day, nth) => {
          if (Number.isInteger(day) && day >= 1 && day <= 7) return day;
          throw badRequest(`${path}.days.${nth}`, 'must be an integer from 1 (Monday) to 7 (Sunday)');
        });
        return [...new Set(read)].sort((a, b) => a - b);
      },
      from: () => readTimeOfDay('from', given.from),
      to: () => readTimeOfDay('to', given.to),
      time_zone() {
        if (zone === undefined) throw badRequest(`${path}.time_zone`, 'is required');
        return checkTimeZone(`${path}.time_zone`, zone);
      },
    }),
  };
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

function compileWeekly({ days, from, to, time_zone }: WeeklyCondition): RuleTest {
  const clock = zoneClock(time_zone);
  const [start, end] = [minutesOf(from), minutesOf(to)];
  const startsOn = new Set(days);
  // The local time takes microseconds to compute, and its result is the same for a minute.
  let [minute, result] = [-1, false];

  function holdsAt(now: number): boolean {
    const local = clock(now);
    const day = ((Math.floor(local / (DAY_MINUTES * MINUTE_MS)) + 3) % 7) + 1; // 1970-01-01 was a Thursday
    const at = Math.floor(local / MINUTE_MS) % DAY_MINUTES;
    if (start < end) return startsOn.has(day) && at >= start && at < end;
    const yesterday = day === 1 ? 7 : day - 1;
    return (startsOn.has(day) && at >= start) || (startsOn.has(yesterday) && at < end);
  }

  return ({ now }) => {
    const current = Math.floor(now / MINUTE_MS);
    if (current !== minute) [minute, result] = [current, holdsAt(now)];
    return result;
  };
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}
