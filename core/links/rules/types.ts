// Browsers run this file too.
import type { ValueType } from './conditions.ts';

/** Operators of a condition that compares with a list of values. */
export const VALUE_OPERATORS = ['is', 'is_not'] as const;
export type ValueOperator = (typeof VALUE_OPERATORS)[number];

/** Operators of a condition on a query parameter. */
export const QUERY_OPERATORS = ['is', 'is_not', 'exists', 'contains'] as const;
export type QueryOperator = (typeof QUERY_OPERATORS)[number];

export type ValueCondition = { type: ValueType; operator: ValueOperator; values: string[] };
export type QueryCondition =
  | { type: 'query'; name: string; operator: 'is' | 'is_not' | 'contains'; values: string[] }
  | { type: 'query'; name: string; operator: 'exists' };
/** ISO 8601 instants, at least one: `after` is included, `before` is not. */
export type TimeCondition = { type: 'time'; after?: string; before?: string };
/**
 * Hours of days of the week. `days`: 1 (Monday) to 7. `from` and `to`: `HH:MM`; `from` is included, `to` is not. `from`
 * after `to` continues past midnight and belongs to the day on which it begins; equal ones are 24 hours.
 */
export type WeeklyCondition = {
  type: 'weekly';
  days: number[];
  from: string;
  to: string;
  /** IANA name. */
  time_zone: string;
};
export type RuleCondition = ValueCondition | QueryCondition | TimeCondition | WeeklyCondition;

/** Facts about a visit that a rule can use. A getter is computed when a condition needs it. */
export type RuleVisit = {
  /** Codes as in `enrich/geo.ts`; empty when unknown. */
  readonly place: { readonly country: string; readonly continent: string; readonly region: string };
  /** Most preferred language with its script and region, such as `de-AT`, `zh-Hant-TW`; empty when unknown. */
  readonly language: string;
  /** As reports name them. */
  readonly agent: { readonly device: string; readonly os: string; readonly browser: string };
  readonly channel: string;
  readonly visitor: 'new' | 'returning';
  /** The raw query, without `?`. */
  readonly query: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

export type RuleTest = (visit: RuleVisit) => boolean;

/** A rule of a link: where all conditions hold, it decides the destination. */
export type LinkRule = { id: string; name?: string; conditions: RuleCondition[]; destination_url: string };

/** A destination that gets a part of the visitors, in proportion to the weights. */
export type SplitVariant = { id: string; destination_url: string; weight: number };

/** Destinations by system and device; the system takes precedence. */
export type Targeting = { ios?: string; android?: string; mobile?: string; desktop?: string };

/** Metrics that decide the winner of a split: the highest value for each click wins. */
export const SPLIT_GOALS = ['leads', 'conversions', 'revenue'] as const;
export type SplitGoal = (typeof SPLIT_GOALS)[number];

export const RULES_LIMIT = 20;
export const CONDITIONS_LIMIT = 20;
export const VALUES_LIMIT = 250;
/** Characters of a value, a parameter's name, and a rule's name. */
export const TEXT_LIMIT = 200;
export const VARIANTS = { least: 2, most: 4 } as const;
export const WEIGHTS = { least: 1, most: 100 } as const;

/** Devices that rules name. Any other device, such as a television, has none of these names. */
export const RULE_DEVICES = ['mobile', 'tablet', 'desktop'] as const;
export const RULE_SYSTEMS = ['ios', 'android', 'windows', 'macos', 'linux', 'other'] as const;
export type RuleSystem = (typeof RULE_SYSTEMS)[number];
export const RULE_VISITORS = ['new', 'returning'] as const;
export const CONTINENT_CODES = ['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA'] as const;

/** Ids of rules and variants. */
export const RULE_ID = /^[A-Za-z0-9_-]{1,64}$/;
