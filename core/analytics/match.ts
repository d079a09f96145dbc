import { foldCase } from '../text/fold-case.ts';
import type { Operator } from './dimensions.ts';

/** Returns whether a value passes a filter. An empty value is unknown; `contains` folds case. */
export function matches(value: string, operator: Operator, wanted: readonly string[]): boolean {
  switch (operator) {
    case 'is':
      return wanted.includes(value);
    case 'is_not':
      return !wanted.includes(value);
    case 'contains':
      return containsAny(value, wanted);
    case 'contains_not':
      return !containsAny(value, wanted);
    case 'is_empty':
      return value === '';
  }
}

function containsAny(value: string, wanted: readonly string[]): boolean {
  const folded = foldCase(value);
  return wanted.some((one) => folded.includes(foldCase(one)));
}
