import { requireRegion } from '../../enrich/region-codes.ts';
import { badRequest } from '../../errors.ts';
import { checkAll, readAll, readEach } from '../../faults.ts';
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

/** A rule as sent: its fields have these types. A faulty field is left out where all faults are found. */
export type RuleInput = {
  id?: string;
  name?: string;
  conditions?: ConditionInput[];
  destination_url?: string;
};

/** A variant as sent. */
export type VariantInput = { id?: string; destination_url?: string; weight?: number };

/**
 * Validates the rules of a link and returns them as stored. A rule without an id gets one.
 *
 * @returns null when there are none
 * @throws {AppError} `bad_request` that names the field
 */
export function readRules(given: RuleInput[], destinations: DestinationRules): LinkRule[] | null {
  if (given.length > RULES_LIMIT) throw badRequest('rules', `must have at most ${RULES_LIMIT} rules`);
  const idOf = idReader('rules', given);
  const { rules } = readAll({
    ids: () => idOf.check(),
    rules: () =>
      readEach(given, (rule, nth) => {
        const path = `rules.${nth}`;
        const { name, decision } = readAll({
          unknown: () => refuseUnknown(path, rule, ['id', 'name', 'conditions', 'destination_url'], 'a rule'),
          name: () => (rule.name === undefined ? undefined : shortText(`${path}.name`, rule.name)),
          decision: () => readDecision(path, rule, destinations),
        });
        return { id: idOf.read(nth), ...(name !== undefined && { name }), ...decision };
      }),
  });
  return rules.length === 0 ? null : rules;
}

function readDecision(path: string, rule: RuleInput, destinations: DestinationRules) {
  const { conditions: given = [] } = rule;
  // A rule whose conditions are faulty may be one on systems.
  const requireUrl =
    rule.conditions === undefined || given.some(({ type }) => type === 'os')
      ? requireAppDestination
      : requireDestination;
  const url = contactUrl(rule.destination_url ?? '');
  const { conditions } = readAll({
    conditions() {
      if (given.length === 0 || given.length > CONDITIONS_LIMIT)
        throw badRequest(`${path}.conditions`, `must have 1 to ${CONDITIONS_LIMIT} conditions`);
      return readEach(given, (condition, nth) => {
        const at = `${path}.conditions.${nth}`;
        return withRegions(at, readCondition(at, condition));
      });
    },
    url: () => requireUrl(`${path}.destination_url`, url, destinations),
  });
  return { conditions, destination_url: url };
}

/** Checks regions by the table of all regions, which browsers do not load. */
function withRegions(path: string, condition: RuleCondition): RuleCondition {
  if (condition.type === 'region') {
    readEach(condition.values, (value, nth) => requireRegion(`${path}.values.${nth}`, value));
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
  checkAll([
    () => idOf.check(),
    () => readEach(given, (variant, nth) => checkVariant(`split.${nth}`, variant, destinations)),
  ]);
  return given.map(({ destination_url = '', weight = 0 }, nth) => ({
    id: idOf.read(nth),
    destination_url,
    weight,
  }));
}

function checkVariant(path: string, variant: VariantInput, destinations: DestinationRules): void {
  const { weight = 0, destination_url = '' } = variant;
  checkAll([
    () => refuseUnknown(path, variant, ['id', 'destination_url', 'weight'], 'a variant'),
    () => {
      if (!Number.isInteger(weight) || weight < WEIGHTS.least || weight > WEIGHTS.most)
        throw badRequest(`${path}.weight`, `must be an integer from ${WEIGHTS.least} to ${WEIGHTS.most}`);
    },
    () => requireDestination(`${path}.destination_url`, destination_url, destinations),
  ]);
}

/** Returns the reader of ids, which must be unique in the link. */
function idReader(field: string, given: { id?: string }[]) {
  const sent = given.map(({ id }) => id);
  return {
    /** @throws {AppError} `bad_request` that names every faulty id */
    check() {
      readEach(sent, (id, nth) => {
        if (id === undefined) return;
        if (!RULE_ID.test(id))
          throw badRequest(`${field}.${nth}.id`, 'must be 1 to 64 characters of A-Z a-z 0-9 _ -');
        if (sent.indexOf(id) !== nth) throw badRequest(`${field}.${nth}.id`, `must not repeat "${id}"`);
      });
    },
    read(nth: number): string {
      const id = sent[nth];
      if (id !== undefined) return id;
      // Random, so that a new rule does not continue the reports of a removed one.
      const made = generateSlug();
      return sent.includes(made) ? this.read(nth) : made;
    },
  };
}
