// Browsers run this file too.
import { parseInstant } from '../../time/timestamps.ts';
import { zoneClock } from '../../time/zone-clock.ts';
import { systemOf } from './systems.ts';
import type {
  LinkRule,
  QueryCondition,
  RuleCondition,
  TimeCondition,
  ValueCondition,
  ValueType,
  WeeklyCondition,
} from './types.ts';

/** What a rule can ask of a visit. A getter is computed when a condition needs it. */
export type RuleVisit = {
  /** Codes as in `enrich/geo.ts`; empty when unknown. */
  readonly place: { readonly country: string; readonly continent: string; readonly region: string };
  /** Most preferred language with its region, such as `de-AT`; empty when unknown. */
  readonly language: string;
  /** As reports name them. */
  readonly agent: { readonly device: string; readonly os: string; readonly browser: string };
  readonly channel: string;
  readonly visitor: 'new' | 'returning';
  /** The raw query, without `?`. */
  readonly query: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

type Test = (visit: RuleVisit) => boolean;

/** Returns the first rule whose conditions all hold, or null. */
export type CompiledRules = (visit: RuleVisit) => LinkRule | null;

export function compileRules(rules: readonly LinkRule[]): CompiledRules {
  const compiled = rules.map((rule) => ({ rule, tests: rule.conditions.map(compileCondition) }));
  return (visit) => compiled.find(({ tests }) => tests.every((test) => test(visit)))?.rule ?? null;
}

function compileCondition(condition: RuleCondition): Test {
  switch (condition.type) {
    case 'query':
      return compileQuery(condition);
    case 'time':
      return compileTime(condition);
    case 'weekly':
      return compileWeekly(condition);
    default:
      return compileValues(condition);
  }
}

/** What a visit has of each type. Unknown is empty, which is not any value. */
const VALUES_IN: Record<ValueType, (visit: RuleVisit) => string> = {
  country: ({ place }) => place.country,
  continent: ({ place }) => place.continent,
  region: ({ place }) => place.region,
  language: ({ language }) => language,
  device: ({ agent }) => agent.device,
  os: ({ agent }) => systemOf(agent.os),
  browser: ({ agent }) => agent.browser.toLowerCase(),
  channel: ({ channel }) => channel,
  visitor: ({ visitor }) => visitor,
};

function compileValues({ type, operator, values }: ValueCondition): Test {
  const valueIn = VALUES_IN[type];
  const wanted = new Set(type === 'browser' ? values.map((value) => value.toLowerCase()) : values);
  const holds: Test =
    type === 'language'
      ? (visit) => isWantedLanguage(wanted, visit.language)
      : (visit) => wanted.has(valueIn(visit));
  return operator === 'is' ? holds : (visit) => !holds(visit);
}

/** `de` is also every `de-XX`; `de-AT` is that alone. */
function isWantedLanguage(wanted: ReadonlySet<string>, tag: string): boolean {
  const [language = ''] = tag.split('-', 1);
  return tag !== '' && (wanted.has(tag) || wanted.has(language));
}

function compileQuery(condition: QueryCondition): Test {
  const { name } = condition;
  const valuesIn = ({ query }: RuleVisit) => (query === '' ? [] : new URLSearchParams(query).getAll(name));
  if (condition.operator === 'exists') return (visit) => valuesIn(visit).length > 0;
  if (condition.operator === 'contains') {
    const parts = condition.values.map((value) => value.toLowerCase());
    return (visit) =>
      valuesIn(visit).some((value) => parts.some((part) => value.toLowerCase().includes(part)));
  }
  const { values } = condition;
  const holds: Test = (visit) => valuesIn(visit).some((value) => values.includes(value));
  return condition.operator === 'is' ? holds : (visit) => !holds(visit);
}

function compileTime({ after, before }: TimeCondition): Test {
  const from = after === undefined ? Number.NEGATIVE_INFINITY : millisOf(after);
  const to = before === undefined ? Number.POSITIVE_INFINITY : millisOf(before);
  return ({ now }) => now >= from && now < to;
}

function millisOf(instant: string): number {
  const nanos = parseInstant(instant);
  if (nanos === null) throw new RangeError(`a rule has the instant ${instant}: it must be ISO 8601`);
  return Number(nanos) / 1_000_000;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

function compileWeekly({ days, from, to, time_zone }: WeeklyCondition): Test {
  const clock = zoneClock(time_zone);
  const [start, end] = [minutesOf(from), minutesOf(to)];
  const startsOn = new Set(days);
  // The clock takes microseconds, and its result is the same for a minute.
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
