// Browsers run this file too.
import { memoize } from '../../caching/memoize.ts';
import { agentPartName, BROWSER_NAMES } from '../../enrich/agent-names.ts';
import { CHANNELS, filterChannel } from '../../enrich/channels.ts';
import { continentOf, countriesIn } from '../../enrich/continents.ts';
import { requireCountry } from '../../enrich/countries.ts';
import { languageTag, languageTest } from '../../enrich/languages.ts';
import { badRequest } from '../../errors.ts';
import { readAll } from '../../faults.ts';
import { QUERY } from './query-condition.ts';
import { type ConditionInput, oneOf, refuseUnknown, shortText } from './reading.ts';
import { systemOf } from './systems.ts';
import { TIME } from './time-condition.ts';
import {
  CONTINENT_CODES,
  RULE_DEVICES,
  RULE_SYSTEMS,
  RULE_VISITORS,
  type RuleCondition,
  type RuleTest,
} from './types.ts';
import { type ValueKind, valueCondition } from './value-condition.ts';
import { WEEKLY } from './weekly-condition.ts';

/** A type of condition: how it is named, read, and found in a visit. */
export type ConditionKind<Condition extends RuleCondition> = {
  /** Label in the console. */
  readonly label: string;
  /** The compared thing, for the guide. */
  readonly about: string;
  /** Its fields besides `type`. */
  readonly fields: readonly (keyof ConditionInput)[];
  /**
   * Returns the condition as stored: each value in one spelling.
   *
   * @throws {AppError} `bad_request` that names the field
   */
  read(path: string, given: ConditionInput): Condition;
  test(condition: Condition): RuleTest;
};

const REGION = /^[A-Z]{2}-[A-Z0-9]{1,3}$/;
const LANGUAGE = /^[A-Za-z]{2,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|\d{3}))?$/;
/** Visitors' languages for which a condition caches its result. */
const LANGUAGES = 200;
const lower = (text: string) => text.toLowerCase();
const listed = (values: readonly string[]) => values.map((value) => `\`${value}\``).join(', ');

/**
 * Conditions with a list of values, in the order of the console's list. A new one is a row here, and the value that it
 * finds must be in `RuleVisit`.
 */
const VALUE_KINDS = {
  country: {
    label: 'Country',
    about: "ISO 3166-1 code of the visitor's address, such as `DE`",
    find: ({ place }) => place.country,
    read: requireCountry,
    known: countriesIn(),
    names: 'region',
  },
  continent: {
    label: 'Continent',
    about: listed(CONTINENT_CODES),
    find: ({ place }) => place.continent,
    read: (path, text) => oneOf(path, text.toUpperCase(), CONTINENT_CODES),
    known: CONTINENT_CODES,
    names: {
      AF: 'Africa',
      AN: 'Antarctica',
      AS: 'Asia',
      EU: 'Europe',
      NA: 'North America',
      OC: 'Oceania',
      SA: 'South America',
    },
  },
  region: {
    label: 'Region',
    about: 'ISO 3166-2 code, such as `DE-BE`; the regions of a country are of one level',
    find: ({ place }) => place.region,
    read(path, text) {
      const region = text.toUpperCase();
      if (REGION.test(region) && continentOf(region.slice(0, 2)) !== '') return region;
      throw badRequest(path, 'must be an ISO 3166-2 code, such as DE-BE');
    },
    example: 'DE-BE',
  },
  language: {
    label: 'Language',
    about:
      'the language that the browser prefers most; `de` includes `de-AT`, not the reverse; `zh-Hant` includes `zh-TW`, `no` `nb`, and `he` `iw`',
    find: ({ language }) => language,
    wanted: (values) => memoize(languageTest(values), LANGUAGES),
    read(path, text) {
      if (LANGUAGE.test(text)) return languageTag(text);
      throw badRequest(
        path,
        'must be a language, with a script or region if needed, such as de, de-AT or zh-Hant',
      );
    },
    suggested:
      'ar bg cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv ms nb nl pl pt ro ru sk sl sr sv th tr uk vi zh'.split(
        ' ',
      ),
    example: 'de',
    names: 'language',
  },
  device: {
    label: 'Device',
    about: listed(RULE_DEVICES),
    find: ({ agent }) => agent.device,
    read: (path, text) => oneOf(path, lower(text), RULE_DEVICES),
    known: RULE_DEVICES,
    names: { mobile: 'phone', tablet: 'tablet', desktop: 'computer' },
  },
  os: {
    label: 'System',
    about: `${listed(RULE_SYSTEMS)}; \`linux\` is any distribution`,
    find: ({ agent }) => systemOf(agent.os),
    read: (path, text) => oneOf(path, lower(text), RULE_SYSTEMS),
    known: RULE_SYSTEMS,
    names: {
      ios: 'iOS',
      android: 'Android',
      windows: 'Windows',
      macos: 'macOS',
      linux: 'Linux',
      other: 'any other system',
    },
  },
  browser: {
    label: 'Browser',
    about: 'the name that reports show, in any case',
    find: ({ agent }) => agent.browser,
    fold: lower,
    read(path, text) {
      const browser = agentPartName(shortText(path, text));
      if (BROWSER_NAMES.includes(browser)) return browser;
      throw badRequest(path, `must be a browser as reports name it: ${BROWSER_NAMES.join(', ')}`);
    },
    suggested: [
      'Chrome',
      'Edge',
      'Facebook',
      'Firefox',
      'Instagram',
      'LinkedIn',
      'Mobile Safari',
      'Opera',
      'Safari',
      'Samsung Internet',
      'TikTok',
    ],
    example: 'Chrome',
  },
  channel: {
    label: 'Channel',
    about: "the link's channel; of a Smart Link the one inferred for the click",
    find: ({ channel }) => channel,
    read(path, text) {
      const channel = filterChannel(lower(text));
      if (channel !== null) return channel;
      throw badRequest(path, 'must be a known channel; see GET /api/v1/channels');
    },
    known: CHANNELS,
    names: 'channel',
  },
  visitor: {
    label: 'Visitor',
    about:
      "`new`, `returning`, which brings the short-link origin's cookie; without cookies every visitor is new",
    find: ({ visitor }) => visitor,
    read: (path, text) => oneOf(path, lower(text), RULE_VISITORS),
    known: RULE_VISITORS,
  },
} as const satisfies Record<string, ValueKind>;
export type ValueType = keyof typeof VALUE_KINDS;
export const VALUE_TYPES = Object.keys(VALUE_KINDS) as ValueType[];

/** The other conditions, each with fields of its own in the console. */
const OTHER_KINDS = { query: QUERY, time: TIME, weekly: WEEKLY };

export type ConditionType = ValueType | keyof typeof OTHER_KINDS;
export const CONDITION_TYPES = [...VALUE_TYPES, ...Object.keys(OTHER_KINDS)] as ConditionType[];

/** Returns the table's row of a condition that compares values. */
export const valueKind = (type: ValueType): ValueKind => VALUE_KINDS[type];

const KINDS = new Map<ConditionType, ConditionKind<RuleCondition>>([
  ...VALUE_TYPES.map((type) => [type, valueCondition(type, valueKind(type))] as const),
  ...(Object.entries(OTHER_KINDS) as [ConditionType, ConditionKind<RuleCondition>][]),
]);

/** Returns the kind of a type of condition. */
export function kindOf(type: ConditionType): ConditionKind<RuleCondition> {
  const kind = KINDS.get(type);
  if (kind === undefined) throw new RangeError(`a rule has a condition of the unknown type ${type}`);
  return kind;
}

/**
 * Validates a condition and returns it as stored: each value in one spelling.
 *
 * @param path of the condition, such as `rules.0.conditions.1`
 * @throws {AppError} `bad_request` that names the field
 */
export function readCondition(path: string, given: ConditionInput): RuleCondition {
  const type = CONDITION_TYPES.find((known) => known === given.type);
  if (type === undefined) throw badRequest(`${path}.type`, `must be one of ${CONDITION_TYPES.join(', ')}`);
  const { fields, read } = kindOf(type);
  return readAll({
    unknown: () => refuseUnknown(path, given, ['type', ...fields], `a condition of type \`${type}\``),
    condition: () => read(path, given),
  }).condition;
}
