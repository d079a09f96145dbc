import { CONDITION_TYPES, type ConditionType } from '../../../../../core/links/rules/conditions.ts';
import type { ConditionInput } from '../../../../../core/links/rules/reading.ts';
import { type LinkRule, QUERY_OPERATORS, type QueryOperator } from '../../../../../core/links/rules/types.ts';
import { viewerTimeZone } from '../../../formats.ts';

/** State of a condition's fields, as typed. Those of other types are kept while the type changes. */
export type ConditionDraft = {
  /** For React. */
  key: string;
  type: ConditionType;
  operator: QueryOperator;
  values: string[];
  name: string;
  /** `datetime-local` values, in the viewer's time zone. */
  after: string;
  before: string;
  /** 1 (Monday) to 7. */
  days: number[];
  from: string;
  to: string;
  time_zone: string;
};

/** State of a rule's fields, as typed. */
export type RuleDraft = {
  /** For React. */
  key: string;
  /** Undefined: the API makes one. */
  id: string | undefined;
  name: string;
  conditions: ConditionDraft[];
  destination_url: string;
};

let made = 0;
/** Returns a key that no other part of the page has. */
export const newKey = (): string => `new-${++made}`;

export function newCondition(type: ConditionType = 'country'): ConditionDraft {
  return {
    key: newKey(),
    type,
    operator: 'is',
    values: [],
    name: '',
    after: '',
    before: '',
    days: [1, 2, 3, 4, 5],
    from: '09:00',
    to: '17:00',
    time_zone: viewerTimeZone(),
  };
}

export const newRule = (): RuleDraft => ({
  key: newKey(),
  id: undefined,
  name: '',
  conditions: [newCondition()],
  destination_url: '',
});

/** The state for a link's rules. */
export function ruleDrafts(rules: readonly RecordedRule[] | null): RuleDraft[] {
  return (rules ?? []).map(({ id, name = '', conditions, destination_url }) => ({
    key: id,
    id,
    name,
    conditions: conditions.map((condition, nth) => ({ ...conditionDraft(condition), key: `${id}-${nth}` })),
    destination_url,
  }));
}

/** A rule in a link's record: its conditions have the fields of their types. */
type RecordedRule = Pick<LinkRule, 'id' | 'name' | 'destination_url'> & {
  conditions: readonly RecordedCondition[];
};
type RecordedCondition = { type: string } & Partial<Omit<ConditionDraft, 'key' | 'type' | 'operator'>> & {
    operator?: string;
  };

function conditionDraft({ type, operator, after, before, ...fields }: RecordedCondition): ConditionDraft {
  return {
    ...newCondition(CONDITION_TYPES.find((known) => known === type) ?? 'country'),
    ...fields,
    operator: QUERY_OPERATORS.find((known) => known === operator) ?? 'is',
    after: after ? localDateTime(after) : '',
    before: before ? localDateTime(before) : '',
  };
}

/** The rules as the API takes them; null: none. An instant that is not one is sent as typed, for the API's error. */
export function rulesBody(rules: readonly RuleDraft[]): object[] | null {
  if (rules.length === 0) return null;
  return rules.map(({ id, name, conditions, destination_url }) => ({
    ...(id !== undefined && { id }),
    ...(name.trim() !== '' && { name: name.trim() }),
    conditions: conditions.map(conditionBody),
    destination_url: destination_url.trim(),
  }));
}

/** A condition as the API takes it: the fields of its type. */
export function conditionBody(condition: ConditionDraft): ConditionInput {
  const { type, operator, values, name, after, before, days, from, to, time_zone } = condition;
  if (type === 'time') {
    return { type, ...(after && { after: instantOf(after) }), ...(before && { before: instantOf(before) }) };
  }
  if (type === 'weekly') return { type, days, from, to, time_zone };
  if (type !== 'query') return { type, operator: operator === 'is_not' ? 'is_not' : 'is', values };
  return { type, name: name.trim(), operator, ...(operator !== 'exists' && { values }) };
}

function instantOf(text: string): string {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? text : date.toISOString();
}

/** `2031-01-01T12:30` in the viewer's time zone, with seconds where there are some. */
export function localDateTime(instant: string): string {
  const date = new Date(instant);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString();
  return local.slice(0, date.getSeconds() === 0 ? 16 : 19);
}
