import type { Operator } from '../../../core/analytics/dimensions.ts';
import { DIMENSION_NAMES, valueName } from './dimensions.ts';
import type { Result } from './source.ts';
import type { Filter } from './view.ts';

export const OPERATOR_NAMES: Record<Operator, string> = {
  is: 'is',
  is_not: 'is not',
  contains: 'contains',
  contains_not: 'does not contain',
  is_empty: 'is empty',
};

/** Values that a chip names; the others are counted. */
const NAMED = 3;

/** `Country is Germany, Austria`. */
export function filterWords({ dimension, operator, values }: Filter, names?: Result['names']): string {
  const isExact = operator === 'is' || operator === 'is_not';
  const named = values.slice(0, NAMED).map((value) => (isExact ? valueName(dimension, value, names) : value));
  const more = values.length > NAMED ? [`${values.length - NAMED} more`] : [];
  return [DIMENSION_NAMES[dimension] ?? dimension, OPERATOR_NAMES[operator], [...named, ...more].join(', ')]
    .filter((part) => part !== '')
    .join(' ');
}
