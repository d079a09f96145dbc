import { Type } from 'typebox';
import { DESTINATION_LIMIT } from '../../core/links/destinations.ts';
import { CONDITION_TYPES, kindOf, VALUE_TYPES, valueKind } from '../../core/links/rules/conditions.ts';
import {
  CONDITIONS_LIMIT,
  QUERY_OPERATORS,
  RULE_ID,
  RULES_LIMIT,
  SPLIT_GOALS,
  TEXT_LIMIT,
  VALUES_LIMIT,
  VARIANTS,
  WEIGHTS,
} from '../../core/links/rules/types.ts';
import { Body, DESTINATION, Instant, NAME, Nullable, OneOf, ReadBody, VisibleText } from '../schemas.ts';

/**
 * Schemas of a link's rules, targeting and split. Rules refuse unknown fields: a rule without a misspelled field would
 * apply to everyone.
 */

const UrlInput = Type.String({ format: 'uri', maxLength: DESTINATION_LIMIT, description: DESTINATION });
const AppUrlInput = Type.String({
  format: 'uri',
  maxLength: DESTINATION_LIMIT,
  description: `A URL, or the address of an app such as \`myapp://product/17\`. ${DESTINATION}`,
});
const DecisionId = Type.String({
  minLength: 1,
  maxLength: 64,
  shown: { pattern: RULE_ID.source },
  description: 'Unique in the link. Made when it is left out.',
});

const TARGETING = {
  title: 'Targeting',
  description: 'Destinations by system and device. The system is asked first. A tablet counts as mobile.',
};
const DEVICES = {
  ios: Type.Optional(AppUrlInput),
  android: Type.Optional(AppUrlInput),
  mobile: Type.Optional(UrlInput),
  desktop: Type.Optional(UrlInput),
};

/** Further fields of conditions that do more than compare a list of values. */
const FIELDS_BY_TYPE = [
  ...CONDITION_TYPES.filter((type) => !VALUE_TYPES.some((known) => known === type)).map(
    (type) =>
      `\`${type}\` has ${kindOf(type)
        .fields.map((field) => `\`${field}\``)
        .join(', ')}; `,
  ),
  'the others have `operator` and `values`.',
].join('');

const RuleCondition = ReadBody(
  {
    type: OneOf([...CONDITION_TYPES], {
      description: FIELDS_BY_TYPE,
    }),
    operator: Type.Optional(
      OneOf([...QUERY_OPERATORS], {
        description:
          '`exists` and `contains` are for `query` only. `is_not` holds for a visitor whose value is unknown.',
      }),
    ),
    values: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        maxItems: VALUES_LIMIT,
        description: `Any of them. ${VALUE_TYPES.map((type) => `\`${type}\`: ${valueKind(type).about}.`).join(' ')}`,
      }),
    ),
    name: Type.Optional(VisibleText(TEXT_LIMIT, '`query`: name of the parameter.')),
    after: Type.Optional({ ...Instant, description: '`time`: from this instant on.' }),
    before: Type.Optional({ ...Instant, description: '`time`: until this instant.' }),
    days: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
        minItems: 1,
        maxItems: 7,
        description: '`weekly`: 1 (Monday) to 7.',
      }),
    ),
    from: Type.Optional(Type.String({ description: '`weekly`: `HH:MM`.' })),
    to: Type.Optional(
      Type.String({
        description:
          '`weekly`: `HH:MM`, not included. Before `from`: on the next day, which belongs to the day of `from`.',
      }),
    ),
    time_zone: Type.Optional(Type.String({ description: '`weekly`: IANA name, such as `Europe/Berlin`.' })),
  },
  { title: 'RuleCondition' },
);

const RULE = {
  name: Type.Optional(Type.String({ minLength: 1, maxLength: TEXT_LIMIT, pattern: NAME, title: 'RuleName' })),
  conditions: Type.Array(RuleCondition, {
    minItems: 1,
    maxItems: CONDITIONS_LIMIT,
    description: 'All of them must hold.',
  }),
  destination_url: {
    ...UrlInput,
    description: `A URL; in a rule with a condition on \`os\` also the address of an app. ${DESTINATION}`,
  },
};
const VARIANT = {
  destination_url: UrlInput,
  weight: Type.Integer({ minimum: WEIGHTS.least, maximum: WEIGHTS.most }),
};

const SPLIT_ENDS_AT =
  'When the winner is decided: within 10 seconds after it, all visitors get the variant with the most of `split_goal` for each click; on a tie, or when a variant has fewer than 100 clicks, the first.';
const SplitGoal = OneOf([...SPLIT_GOALS], { description: 'Required with `split_ends_at`.' });

/** Fields that a create and a change share. Null clears. */
export const DECISION_FIELDS = {
  targeting: Type.Optional(Nullable(Body(DEVICES, TARGETING))),
  rules: Type.Optional(
    Nullable(
      Type.Array(ReadBody({ id: Type.Optional(DecisionId), ...RULE }, { title: 'LinkRuleInput' }), {
        maxItems: RULES_LIMIT,
        description:
          'In order: the first rule whose conditions all hold decides the destination, before `targeting` and `split`.',
      }),
    ),
  ),
  split: Type.Optional(
    Nullable(
      Type.Array(Body({ id: Type.Optional(DecisionId), ...VARIANT }, { title: 'SplitVariantInput' }), {
        maxItems: VARIANTS.most,
        description:
          'Two to four destinations by weight, where no rule and no targeting decided. A visitor keeps their variant.',
      }),
    ),
  ),
  split_ends_at: Type.Optional(Nullable({ ...Instant, description: SPLIT_ENDS_AT })),
  split_goal: Type.Optional(Nullable(SplitGoal)),
};

/** The same in a link's record. */
export const DECISION_RECORD = {
  targeting: Nullable(Type.Object(DEVICES, TARGETING)),
  rules: Nullable(Type.Array(Type.Object({ id: Type.String(), ...RULE }, { title: 'LinkRule' }))),
  split: Nullable(Type.Array(Type.Object({ id: Type.String(), ...VARIANT }, { title: 'SplitVariant' }))),
  split_ends_at: Nullable({ ...Instant, description: SPLIT_ENDS_AT }),
  split_goal: Nullable(SplitGoal),
  split_winner: Nullable(
    Type.String({ description: 'Id of the variant that all visitors get, once decided.' }),
  ),
};
