import { isMobileDevice } from '../../core/enrich/devices.ts';
import type { UserAgentProfile } from '../../core/enrich/user-agents.ts';
import { compileRules, type RuleVisit } from '../../core/links/rules/compile.ts';
import { variantOf } from '../../core/links/rules/split.ts';
import { systemOf } from '../../core/links/rules/systems.ts';
import type { Targeting } from '../../sql/links/link-settings.ts';
import type { LinkRecord } from '../link-table/records.ts';

/** Where a visitor of a link goes, and what decided it. Texts are empty when there is none. */
export type Decision = { readonly url: string; readonly ruleId: string; readonly variantId: string };

/** What decides between the destinations of a link. */
export type DecidingVisit = RuleVisit & {
  readonly agent: UserAgentProfile;
  /** 16 bytes. */
  readonly visitorId: Uint8Array;
};

/** Returns one of the link's decisions, each always as the same object. */
export type Decide = (visit: DecidingVisit) => Decision;

/** Compiles the rules, targeting and split of a link, in this order; the link's own destination is last. */
export function compileDecisions(record: LinkRecord): Decide {
  const { rules = [], targeting, split = [], winner } = record.settings;
  const decided = (url: string, ids: Partial<Decision> = {}): Decision =>
    Object.freeze({ ruleId: '', variantId: '', ...ids, url });
  const own = decided(record.destination);
  const ruleOf = compileRules(rules);
  const byRule = new Map(
    rules.map(({ id, destination_url }) => [id, decided(destination_url, { ruleId: id })]),
  );
  const targets = new Map(Object.entries(targeting ?? {}).map(([name, url]) => [name, decided(url)]));
  const variants = split.map(({ id, destination_url, weight }) => ({
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
    return (won ?? variantOf(variants, visit.visitorId, record.id))?.decision ?? own;
  };
}

/** Returns the names in `targeting` that fit a visitor, the most specific first. A television has none. */
function targetsOf({ os, device }: UserAgentProfile): (keyof Targeting)[] {
  const system = systemOf(os);
  const names: (keyof Targeting)[] = system === 'ios' || system === 'android' ? [system] : [];
  if (isMobileDevice(device)) names.push('mobile');
  else if (device === 'desktop') names.push('desktop');
  return names;
}
