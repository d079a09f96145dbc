// Browsers run this file too.
import { kindOf } from './conditions.ts';
import type { LinkRule, RuleVisit } from './types.ts';

/** Returns the first rule whose conditions all hold, or null. */
export type CompiledRules = (visit: RuleVisit) => LinkRule | null;

export function compileRules(rules: readonly LinkRule[]): CompiledRules {
  const compiled = rules.map((rule) => ({
    rule,
    tests: rule.conditions.map((condition) => kindOf(condition.type).test(condition)),
  }));
  return (visit) => compiled.find(({ tests }) => tests.every((test) => test(visit)))?.rule ?? null;
}
