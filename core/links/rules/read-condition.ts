// Browsers run this file too.
import { agentPartName } from '../../enrich/agent-names.ts';
import { filterChannel } from '../../enrich/channels.ts';
import { continentOf } from '../../enrich/continents.ts';
import { languageTag } from '../../enrich/languages.ts';
import { badRequest } from '../../errors.ts';
import { checkTimeZone } from '../../time/time-buckets.ts';
import { formatInstantShort, requireInstant } from '../../time/timestamps.ts';
import {
  CONDITION_TYPES,
  CONTINENT_CODES,
  type ConditionType,
  QUERY_OPERATORS,
  RULE_DEVICES,
  RULE_SYSTEMS,
  RULE_VISITORS,
  type RuleCondition,
  TEXT_LIMIT,
  type TimeCondition,
  VALUE_OPERATORS,
  VALUES_LIMIT,
  type ValueType,
} from './types.ts';

/** A condition as sent: its fields have these types, and `type` decides which it needs. */
export type ConditionInput = {
  type: string;
  operator?: string;
  values?: string[];
  name?: string;
  after?: string;
  before?: string;
  days?: number[];
  from?: string;
  to?: string;
  time_zone?: string;
};

const VALUE_FIELDS = ['type', 'operator', 'values'];
const FIELDS: Record<ConditionType, readonly string[]> = {
  country: VALUE_FIELDS,
  continent: VALUE_FIELDS,
  region: VALUE_FIELDS,
  language: VALUE_FIELDS,
  device: VALUE_FIELDS,
  os: VALUE_FIELDS,
  browser: VALUE_FIELDS,
  channel: VALUE_FIELDS,
  visitor: VALUE_FIELDS,
  query: ['type', 'operator', 'name', 'values'],
  time: ['type', 'after', 'before'],
  weekly: ['type', 'days', 'from', 'to', 'time_zone'],
};

const TIME_OF_DAY = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const REGION = /^[A-Z]{2}-[A-Z0-9]{1,3}$/;
const LANGUAGE = /^[A-Za-z]{2,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|\d{3}))?$/;

/**
 * Validates a condition and returns it as stored: each value in one spelling.
 *
 * @param path of the condition, such as `rules.0.conditions.1`
 * @throws {AppError} `bad_request` that names the field
 */
export function readCondition(path: string, given: ConditionInput): RuleCondition {
  const type = CONDITION_TYPES.find((known) => known === given.type);
  if (type === undefined) throw badRequest(`${path}.type`, `must be one of ${CONDITION_TYPES.join(', ')}`);
  refuseUnknown(path, given, FIELDS[type], `a condition of type \`${type}\``);
  if (type === 'query') return readQuery(path, given);
  if (type === 'time') return readTime(path, given);
  if (type === 'weekly') return readWeekly(path, given);
  const values = readValues(`${path}.values`, given.values, (at, text) => readValue(at, type, text));
  return { type, operator: operatorOf(path, given.operator, VALUE_OPERATORS), values };
}

/** @throws {AppError} `bad_request` that names the first field which `owner` does not have */
export function refuseUnknown(path: string, given: object, known: readonly string[], owner: string): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw badRequest(`${path}.${unknown}`, `is not a field of ${owner}: it has ${known.join(', ')}`);
}

function operatorOf<T extends string>(path: string, given: string | undefined, known: readonly T[]): T {
  const operator = known.find((name) => name === given);
  if (operator === undefined) throw badRequest(`${path}.operator`, `must be one of ${known.join(', ')}`);
  return operator;
}

function readValues(
  path: string,
  given: string[] | undefined,
  read: (path: string, text: string) => string,
): string[] {
  if (given === undefined || given.length === 0) throw badRequest(path, 'must have at least one value');
  if (given.length > VALUES_LIMIT) throw badRequest(path, `must have at most ${VALUES_LIMIT} values`);
  return [...new Set(given.map((text, nth) => read(`${path}.${nth}`, text)))];
}

function readValue(path: string, type: ValueType, text: string): string {
  const folded = text.toLowerCase();
  switch (type) {
    case 'country':
      if (continentOf(text.toUpperCase()) !== '') return text.toUpperCase();
      throw badRequest(path, 'must be an ISO 3166-1 country code of two letters, such as DE');
    case 'continent':
      return oneOf(path, text.toUpperCase(), CONTINENT_CODES);
    case 'region': {
      const region = text.toUpperCase();
      if (REGION.test(region) && continentOf(region.slice(0, 2)) !== '') return region;
      throw badRequest(path, 'must be an ISO 3166-2 code, such as DE-BE');
    }
    case 'language':
      if (LANGUAGE.test(text)) return languageTag(text);
      throw badRequest(path, 'must be a language, with a region if needed, such as de or de-AT');
    case 'device':
      return oneOf(path, folded, RULE_DEVICES);
    case 'os':
      return oneOf(path, folded, RULE_SYSTEMS);
    case 'visitor':
      return oneOf(path, folded, RULE_VISITORS);
    case 'browser':
      return agentPartName(shortText(path, text));
    case 'channel': {
      const channel = filterChannel(folded);
      if (channel !== null) return channel;
      throw badRequest(path, 'must be a known channel; see GET /api/v1/channels');
    }
  }
}

function oneOf(path: string, text: string, known: readonly string[]): string {
  if (known.includes(text)) return text;
  throw badRequest(path, `must be one of ${known.join(', ')}`);
}

/** @throws {AppError} `bad_request` when a text is empty or too long */
export function shortText(path: string, text: string | undefined): string {
  if (text === undefined || text === '') throw badRequest(path, 'is required');
  if (text.length > TEXT_LIMIT) throw badRequest(path, `must be at most ${TEXT_LIMIT} characters`);
  return text;
}

function readQuery(path: string, given: ConditionInput): RuleCondition {
  const operator = operatorOf(path, given.operator, QUERY_OPERATORS);
  const name = shortText(`${path}.name`, given.name);
  if (operator === 'exists') {
    if (given.values === undefined) return { type: 'query', name, operator };
    throw badRequest(`${path}.values`, 'must be left out with the operator `exists`');
  }
  // An empty value is one that a query can have: `?coupon=`.
  const values = readValues(`${path}.values`, given.values, (at, text) =>
    text === '' && operator !== 'contains' ? '' : shortText(at, text),
  );
  return { type: 'query', name, operator, values };
}

function readTime(path: string, { after, before }: ConditionInput): TimeCondition {
  if (after === undefined && before === undefined) {
    throw badRequest(path, 'needs `after`, `before` or both');
  }
  const start = after === undefined ? null : requireInstant(`${path}.after`, after);
  const end = before === undefined ? null : requireInstant(`${path}.before`, before);
  if (start !== null && end !== null && start >= end) {
    throw badRequest(`${path}.before`, 'must be later than `after`');
  }
  return {
    type: 'time',
    ...(start !== null && { after: formatInstantShort(start) }),
    ...(end !== null && { before: formatInstantShort(end) }),
  };
}

function readWeekly(path: string, given: ConditionInput): RuleCondition {
  const { days, from, to, time_zone: zone } = given;
  if (days === undefined || days.length === 0) throw badRequest(`${path}.days`, 'must have at least one day');
  for (const [nth, day] of days.entries()) {
    if (Number.isInteger(day) && day >= 1 && day <= 7) continue;
    throw badRequest(`${path}.days.${nth}`, 'must be an integer from 1 (Monday) to 7 (Sunday)');
  }
  const readTimeOfDay = (name: 'from' | 'to', text: string | undefined): string => {
    if (text !== undefined && TIME_OF_DAY.test(text)) return text;
    throw badRequest(`${path}.${name}`, 'must be a time of day from 00:00 to 23:59');
  };
  const hours = { from: readTimeOfDay('from', from), to: readTimeOfDay('to', to) };
  if (zone === undefined) throw badRequest(`${path}.time_zone`, 'is required');
  return {
    type: 'weekly',
    days: [...new Set(days)].sort((a, b) => a - b),
    ...hours,
    time_zone: checkTimeZone(`${path}.time_zone`, zone),
  };
}
