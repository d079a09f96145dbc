// Browsers run this file too.
import { readAll } from '../../faults.ts';
import type { ConditionKind, ValueType } from './conditions.ts';
import { operatorOf, readValues } from './reading.ts';
import { type RuleTest, type RuleVisit, VALUE_OPERATORS, type ValueCondition } from './types.ts';

/** How a condition compares a visit with a list of values, and how the console edits it. */
export type ValueKind = {
  /** Label in the console. */
  readonly label: string;
  /** The values, for the API reference and the guide. */
  readonly about: string;
  /** Returns a value in its one spelling. @throws {AppError} `bad_request` that names the value */
  readonly read: (path: string, text: string) => string;
  /** Returns the visit's value. An unknown value is empty, and equals no listed value. */
  readonly find: (visit: RuleVisit) => string;
  /** The spelling in which values are compared; left out: their own. */
  readonly fold?: (value: string) => string;
  /** Returns the test whether a visit's value matches; left out: it equals one of the values. */
  readonly wanted?: (values: readonly string[]) => (value: string) => boolean;
  /** All values, to choose from; left out: they are typed. */
  readonly known?: readonly string[];
  /** Values that the console suggests where they are typed. */
  readonly suggested?: readonly string[];
  /** An example for typed values. */
  readonly example?: string;
  /** Names of values: of the browser's language, of channels, or these; left out: the values are names. */
  readonly names?: 'region' | 'language' | 'channel' | Readonly<Record<string, string>>;
};

function isOneOf(values: readonly string[]): (value: string) => boolean {
  const all = new Set(values);
  return (value) => all.has(value);
}

/** Returns the condition that compares a value of a visit. */
export const valueCondition = (
  type: ValueType,
  { label, about, read, find, fold = (value) => value, wanted = isOneOf }: ValueKind,
): ConditionKind<ValueCondition> => ({
  label,
  about,
  fields: ['operator', 'values'],
  read: (path, { operator, values }) => ({
    type,
    ...readAll({
      operator: () => operatorOf(path, operator, VALUE_OPERATORS),
      values: () => readValues(`${path}.values`, values, read),
    }),
  }),
  test({ operator, values }): RuleTest {
    const isWanted = wanted(values.map(fold));
    const holds: RuleTest = (visit) => isWanted(fold(find(visit)));
    return operator === 'is' ? holds : (visit) => !holds(visit);
  },
});
