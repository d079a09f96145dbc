// Browsers run this file too.
import { badRequest } from '../../errors.ts';
import { readAll } from '../../faults.ts';
import { foldCase } from '../../text/fold-case.ts';
import type { ConditionKind } from './conditions.ts';
import { type ConditionInput, operatorOf, readValues, shortText } from './reading.ts';
import { QUERY_OPERATORS, type QueryCondition, type RuleTest, type RuleVisit } from './types.ts';

/** A parameter of the visitor's query. */
export const QUERY: ConditionKind<QueryCondition> = {
  label: 'Query parameter',
  about: "a parameter of the visitor's query: `is`, `is_not`, `contains`, `exists`",
  fields: ['operator', 'name', 'values'],
  read: readQuery,
  test: compileQuery,
};

function readQuery(path: string, given: ConditionInput): QueryCondition {
  const { operator, name, values } = readAll({
    operator: () => operatorOf(path, given.operator, QUERY_OPERATORS),
    name: () => shortText(`${path}.name`, given.name),
    values() {
      if (given.operator === 'exists') {
        if (given.values === undefined) return [];
        throw badRequest(`${path}.values`, 'must be left out with the operator `exists`');
      }
      // An empty value is allowed, because a query can have one: `?coupon=`.
      return readValues(`${path}.values`, given.values, (at, text) =>
        text === '' && given.operator !== 'contains' ? '' : shortText(at, text),
      );
    },
  });
  return operator === 'exists'
    ? { type: 'query', name, operator }
    : { type: 'query', name, operator, values };
}

function compileQuery(condition: QueryCondition): RuleTest {
  const { name } = condition;
  const valuesIn = ({ query }: RuleVisit) => (query === '' ? [] : new URLSearchParams(query).getAll(name));
  if (condition.operator === 'exists') return (visit) => valuesIn(visit).length > 0;
  if (condition.operator === 'contains') {
    const parts = condition.values.map(foldCase);
    return (visit) =>
      valuesIn(visit)
        .map(foldCase)
        .some((value) => parts.some((part) => value.includes(part)));
  }
  const { values } = condition;
  const holds: RuleTest = (visit) => valuesIn(visit).some((value) => values.includes(value));
  return condition.operator === 'is' ? holds : (visit) => !holds(visit);
}
