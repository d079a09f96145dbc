import type { Condition } from '../../clickhouse/queries/click-conditions.ts';
import { TEXT_COLUMNS } from '../../core/analytics/dimensions.ts';
import { matches } from '../../core/analytics/match.ts';
import type { ShownClick } from '../../core/clicks/click-record.ts';
import { NO_LINK } from '../../core/clicks/field-names.ts';
import { NANOS_PER_MILLI } from '../../core/time/timestamps.ts';
import { zoneClock } from '../../core/time/zone-clock.ts';

/** Returns whether a click passes conditions, with the same result as in ClickHouse. */
export function passes(conditions: readonly Condition[]): (click: ShownClick) => boolean {
  const all = conditions.map(predicateOf);
  return (click) => all.every((isTrue) => isTrue(click));
}

function predicateOf(condition: Condition): (click: ShownClick) => boolean {
  switch (condition.kind) {
    case 'any': {
      const parts = condition.of.map(predicateOf);
      return (click) => parts.some((isTrue) => isTrue(click));
    }
    case 'links': {
      const ids = new Set(condition.ids);
      return ({ link_id }) => ids.has(link_id ?? NO_LINK) === condition.isInside;
    }
    case 'link': {
      const { operator, values } = condition;
      const wanted = values.map((id) => (id === NO_LINK ? '' : id));
      return ({ link_id }) => matches(link_id ?? '', operator, wanted);
    }
    case 'asn': {
      const { operator, values } = condition;
      const wanted = values.map((value) => (value === '0' ? '' : value));
      return ({ asn }) => matches(asn === 0 ? '' : String(asn), operator, wanted);
    }
    case 'text': {
      const column = TEXT_COLUMNS[condition.dimension];
      return (click) => matches(click[column], condition.operator, condition.values);
    }
    case 'clock': {
      const clock = zoneClock(condition.timeZone);
      return ({ tsNanos }) => {
        const date = new Date(clock(Number(tsNanos / NANOS_PER_MILLI)));
        const value = condition.dimension === 'hour_of_day' ? date.getUTCHours() : date.getUTCDay() || 7;
        return matches(String(value), condition.operator, condition.values);
      };
    }
    case 'buckets':
      // `filters` of clicks has no condition on time.
      return () => false;
  }
}
