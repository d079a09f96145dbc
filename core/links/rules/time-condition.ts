// Browsers run this file too.
import { badRequest } from '../../errors.ts';
import { readAll } from '../../faults.ts';
import { formatInstantShort, parseInstant, requireInstant } from '../../time/timestamps.ts';
import type { ConditionKind } from './conditions.ts';
import type { ConditionInput } from './reading.ts';
import type { RuleTest, TimeCondition } from './types.ts';

/** A span of time. */
export const TIME: ConditionKind<TimeCondition> = {
  label: 'Date and time',
  about: '`after` (included), `before` (not included), or both, ISO 8601',
  fields: ['after', 'before'],
  read: readTime,
  test: compileTime,
};

function readTime(path: string, { after, before }: ConditionInput): TimeCondition {
  if (after === undefined && before === undefined) {
    throw badRequest(path, 'needs `after`, `before` or both');
  }
  const { start, end } = readAll({
    start: () => (after === undefined ? null : requireInstant(`${path}.after`, after)),
    end: () => (before === undefined ? null : requireInstant(`${path}.before`, before)),
  });
  if (start !== null && end !== null && start >= end) {
    throw badRequest(`${path}.before`, 'must be later than `after`');
  }
  return {
    type: 'time',
    ...(start !== null && { after: formatInstantShort(start) }),
    ...(end !== null && { before: formatInstantShort(end) }),
  };
}

function compileTime({ after, before }: TimeCondition): RuleTest {
  const from = after === undefined ? Number.NEGATIVE_INFINITY : millisOf(after);
  const to = before === undefined ? Number.POSITIVE_INFINITY : millisOf(before);
  return ({ now }) => now >= from && now < to;
}

function millisOf(instant: string): number {
  const nanos = parseInstant(instant);
  if (nanos === null) throw new RangeError(`a rule has the instant ${instant}: it must be ISO 8601`);
  return Number(nanos) / 1_000_000;
}
