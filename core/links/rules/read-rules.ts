import { requireRegion } from '../../enrich/region-codes.ts';
import { badRequest } from '../../errors.ts';
import { contactUrl } from '../contact-url.ts';
import { type DestinationRules, requireAppDestination, requireDestination } from '../destinations.ts';
import { generateSlug } from '../slugs.ts';
import { readCondition } from './conditions.ts';
import { type ConditionInput, refuseUnknown, shortText } from './reading.ts';
import {
  CONDITIONS_LIMIT,
  type LinkRule,
  RULE_ID,
  RULES_LIMIT,
  type RuleCondition,
  type SplitVariant,
  VARIANTS,
  WEIGHTS,
} from './types.ts';

/** A rule as sent: its fields have these types. */
export type RuleInput = {
  id?: string;
  name?: string;
  conditions: ConditionInput[];
  destination_url: string;
};

/** A variant as sent. */
export type VariantInput = { id?: string; destination_url: string; weight: number };

/**
 * Validates the rules of a link and returns them as stored. A rule without an id gets one.
 *
 * @returns null when there are none
 * @throws {AppError} `bad_request` that names the field
 */
export function readRules(given: RuleInput[], destinations: DestinationRules): LinkRule[] | null {
  if (given.length > RULES_LIMIT) throw badRequest('rules', `must have at most ${RULES_LIMIT} rules`);
  const idOf = idReader('rules', given);
  const rules = given.map((rule, nth) => {
    const path = `rules.${nth}`;
    refuseUnknown(path, rule, ['id', 'name', 'conditions', 'destination_url'], 'a rule');
    return {
      id: idOf(nth),
      ...(rule.name !== undefined && { name: shortText(`${path}.name`, rule.name) }),
      ...readDecision(path, rule, destinations),
    };
  });
  return rules.length === 0 ? null : rules;
}

function readDecision(path: string, rule: RuleInput, destinations: DestinationRules) {
  if (rule.conditions.length === 0 || rule.conditions.length > CONDITIONS_LIMIT) {
    throw badRequest(`${path}.conditions`, `must have 1 to ${CONDITIONS_LIMIT} conditions`);
  }
  const conditions = rule.conditions.map((condition, nth) =>
    withRegions(`${path}.conditions.${nth}`, readCondition(`${path}.conditions.${nth}`, condition)),
  );
  const requireUrl = conditions.some(({ type }) => type === 'os')
    ? requireAppDestination
    : requireDestination;
  const url = contactUrl(rule.destination_url);
  requireUrl(`${path}.destination_url`, url, destinations);
  return { conditions, destination_url: url };
}

/** Checks regions by the table of all regions, which browsers do not load. */
function withRegions(path: string, condition: RuleCondition): RuleCondition {
  if (condition.type === 'region') {
    for (const [nth, value] of condition.values.entries()) requireRegion(`${path}.values.${nth}`, value);
  }
  return condition;
}

/**
 * Validates the split of a link and returns it as stored. A variant without an id gets one.
 *
 * @returns null when it has no variant
 * @throws {AppError} `bad_request` that names the field
 */
export function readSplit(given: VariantInput[], destinations: DestinationRules): SplitVariant[] | null {
  if (given.length === 0) return null;
  if (given.length < VARIANTS.least || given.length > VARIANTS.most) {
    throw badRequest('split', `must have ${VARIANTS.least} to ${VARIANTS.most} variants`);
  }
  const idOf = idReader('split', given);
  return given.map((variant, nth) => {
    const path = `split.${nth}`;
    refuseUnknown(path, variant, ['id', 'destination_url', 'weight'], 'a variant');
    const { weight, destination_url } = variant;
    if (!Number.isInteger(weight) || weight < WEIGHTS.least || weight > WEIGHTS.most) {
      throw badRequest(`${path}.weight`, `must be an integer from ${WEIGHTS.least} to ${WEIGHTS.most}`);
    }
    requireDestination(`${path}.destination_url`, destination_url, destinations);
    return { id: idOf(nth), destination_url, weight };
  });
}

/** Returns the reader of ids, which must be unique in the link. */
function idReader(field: string, given: { id?: string }[]): (nth: number) => string {
  const sent = given.map(({ id }) => id);
  for (const [nth, id] of sent.entries()) {
    if (id === undefined) continue;
    if (!RULE_ID.test(id)) {
      throw badRequest(`${field}.${nth}.id`, 'must be 1 to 64 characters of A-Z a-z 0-9 _ -');
    }
    if (sent.indexOf(id) !== nth) throw badRequest(`${field}.${nth}.id`, `must not repeat "${id}"`);
  }
  return (nth) => {
    const id = sent[nth];
    if (id !== undefined) return id;
    // Random, so that a new rule does not continue the reports of a removed one.
    const made = generateSlug();
    return sent.includes(made) ? idReader(field, given)(nth) : made;
  };
}
