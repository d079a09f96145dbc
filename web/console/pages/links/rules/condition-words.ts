import { CHANNELS } from '../../../../../core/enrich/channels.ts';
import { kindOf, type ValueType, valueKind } from '../../../../../core/links/rules/conditions.ts';
import { channelName, countryName } from '../../../formats.ts';
import type { ConditionDraft, RuleDraft } from './rule-drafts.ts';

let languages: Intl.DisplayNames | undefined;

/** The name of a language, with its region where it has one. */
function languageName(tag: string): string {
  try {
    languages ??= new Intl.DisplayNames(undefined, { type: 'language' });
    return languages.of(tag) ?? tag;
  } catch {
    return tag;
  }
}

/** The name of a condition's value. */
export function conditionValueName(type: ValueType, value: string): string {
  const { names } = valueKind(type);
  if (names === undefined) return value;
  if (typeof names === 'object') return names[value] ?? value;
  return NAMES[names](value);
}

const NAMES = {
  region: countryName,
  language: languageName,
  channel: (value: string) => (CHANNELS.some((known) => known === value) ? channelName(value) : value),
};

export const DAY_NAMES = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

/** The conditions of a rule in words: `Country is Austria or Switzerland, and language is German`. */
export function ruleWords({ conditions }: Pick<RuleDraft, 'conditions'>): string {
  const words = conditions.map(conditionWords).join(', and ');
  return words === '' ? 'No condition yet' : words.charAt(0).toUpperCase() + words.slice(1);
}

function conditionWords(condition: ConditionDraft): string {
  const { type, operator, values, name, after, before, days, from, to, time_zone } = condition;
  switch (type) {
    case 'time':
      return (
        [after && `from ${shown(after)}`, before && `until ${shown(before)}`].filter(Boolean).join(' ') ||
        'at any time'
      );
    case 'weekly':
      return `${daysWords(days)}, ${from} to ${to} (${time_zone})`;
    case 'query': {
      const parameter = `?${name || '…'}`;
      if (operator === 'exists') return `${parameter} is there`;
      return `${parameter} ${OPERATOR_NAMES[operator]} ${anyOf(values.map((value) => `“${value}”`))}`;
    }
    default: {
      const named = values.map((value) => conditionValueName(type, value));
      return `${kindOf(type).label.toLowerCase()} ${OPERATOR_NAMES[operator]} ${anyOf(named)}`;
    }
  }
}

export const OPERATOR_NAMES = {
  is: 'is',
  is_not: 'is not',
  contains: 'contains',
  exists: 'is there',
} as const;

/** At most three values, then how many more. */
function anyOf(values: readonly string[]): string {
  if (values.length === 0) return '…';
  const [first, second, third, ...more] = values;
  const listed = [first, second, third].filter((value) => value !== undefined);
  if (more.length > 0) return `${listed.join(', ')} or ${more.length} more`;
  return listed.length < 3 ? listed.join(' or ') : `${first}, ${second} or ${third}`;
}

/** `Mon to Fri`, or `Mon, Wed`. */
function daysWords(days: readonly number[]): string {
  const sorted = days.toSorted((one, other) => one - other);
  if (sorted.length === 7) return 'every day';
  if (sorted.length === 0) return 'no day';
  const [first = 1, last = 1] = [sorted[0], sorted.at(-1)];
  if (sorted.length > 2 && last - first === sorted.length - 1) return `${dayName(first)} to ${dayName(last)}`;
  return sorted.map(dayName).join(', ');
}

const dayName = (day: number) => DAY_NAMES[day - 1] ?? String(day);

const shown = (local: string) =>
  new Date(local).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
