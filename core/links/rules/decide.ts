// Browsers run this file too.
import { type Device, isMobileDevice } from '../../enrich/devices.ts';
import { compileRules } from './compile.ts';
import { orderedVariants, variantOf } from './split.ts';
import { systemOf } from './systems.ts';
import type { LinkRule, RuleVisit, SplitVariant, Targeting } from './types.ts';

/** The destination of a visitor of a link, and what decided it. Missing texts are empty. */
export type Decision = {
  readonly url: string;
  readonly ruleId: string;
  readonly variantId: string;
  /** The part of `targeting` that decided. */
  readonly target: keyof Targeting | '';
};

/** The facts about a visit that select a link's destination. */
export type DecidingVisit = RuleVisit & {
  readonly agent: RuleVisit['agent'] & { readonly device: Device };
  /** 16 bytes. */
  readonly visitorId: Uint8Array;
};

/** The parts of a link that decide. */
export type DecidingLink = {
  /** 16 bytes. */
  id: Uint8Array;
  destination: string;
  rules?: readonly LinkRule[] | undefined;
  targeting?: Targeting | undefined;
  split?: readonly SplitVariant[] | undefined;
  /** Id of the variant that all visitors get. */
  winner?: string | undefined;
};

/** Returns one of the link's decisions. The same decision is always the same object. */
export type Decide = (visit: DecidingVisit) => Decision;

/** Compiles the rules, targeting and split of a link, in this order; the link's own destination is last. */
export function compileDecisions(link: DecidingLink): Decide {
  const { rules = [], targeting = {}, split = [], winner } = link;
  const own = decided(link.destination);
  const ruleOf = compileRules(rules);
  const byRule = new Map(
    rules.map(({ id, destination_url }) => [id, decided(destination_url, { ruleId: id })]),
  );
  const targets = new Map(
    (Object.entries(targeting) as [keyof Targeting, string][]).map(([target, url]) => [
      target,
      decided(url, { target }),
    ]),
  );
  const variants = orderedVariants(split).map(({ id, destination_url, weight }) => ({
    weight,
    decision: decided(destination_url, { variantId: id }),
  }));
  const won = variants.find(({ decision }) => decision.variantId === winner);

  return (visit) => {
    const rule = ruleOf(visit);
    if (rule !== null) return byRule.get(rule.id) ?? own;
    if (targets.size > 0) {
      for (const name of targetsOf(visit.agent)) {
        const target = targets.get(name);
        if (target !== undefined) return target;
      }
    }
    return (won ?? variantOf(variants, visit.visitorId, link.id))?.decision ?? own;
  };
}

function decided(url: string, by: Partial<Decision> = {}): Decision {
  return Object.freeze({ ruleId: '', variantId: '', target: '', ...by, url });
}

/** Returns the names in `targeting` that match a visitor, the most specific first. A television has none. */
function targetsOf({ os, device }: DecidingVisit['agent']): (keyof Targeting)[] {
  const system = systemOf(os);
  const names: (keyof Targeting)[] = system === 'ios' || system === 'android' ? [system] : [];
  if (isMobileDevice(device)) names.push('mobile');
  else if (device === 'desktop') names.push('desktop');
  return names;
}
