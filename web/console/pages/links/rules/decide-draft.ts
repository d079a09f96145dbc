import { UNKNOWN_AGENT_PART } from '../../../../../core/enrich/agent-names.ts';
import { continentOf } from '../../../../../core/enrich/continents.ts';
import { languageTag } from '../../../../../core/enrich/languages.ts';
import { AppError } from '../../../../../core/errors.ts';
import { readCondition, VALUE_TYPES, type ValueType } from '../../../../../core/links/rules/conditions.ts';
import { compileDecisions } from '../../../../../core/links/rules/decide.ts';
import { type LinkRule, RULE_DEVICES, type SplitVariant } from '../../../../../core/links/rules/types.ts';
import type { LinkDraft } from '../form/link-draft.ts';
import { conditionBody } from './rule-drafts.ts';

/** The values of a visitor that one can choose; the others follow from them. */
export const TRIED = VALUE_TYPES.filter((type) => type !== 'continent');

/** A visitor to try a link with, as typed. Empty: unknown. */
export type TriedVisitor = Record<ValueType, string> & {
  /** Without `?`. */
  query: string;
  /** `datetime-local`; empty: now. */
  at: string;
};

export const NEW_VISITOR: TriedVisitor = {
  ...(Object.fromEntries(VALUE_TYPES.map((type) => [type, ''])) as Record<ValueType, string>),
  device: 'mobile',
  os: 'ios',
  visitor: 'new',
  query: '',
  at: '',
};

/** What decides for a visitor, and where it leads. */
export type Tried =
  | { by: 'rule'; index: number; url: string }
  | { by: 'targeting'; target: string; url: string }
  /** Its variants and their shares, 0 to 1. */
  | { by: 'split'; shares: { id: string; url: string; share: number }[] }
  | { by: 'destination'; url: string }
  /** A part is not complete. */
  | { by: 'nothing'; why: string };

const SYSTEMS: Readonly<Record<string, string>> = {
  ios: 'iOS',
  android: 'Android',
  windows: 'Windows',
  macos: 'macOS',
  linux: 'Linux',
};
const NOBODY = new Uint8Array(16);

/** Decides as the redirect does, with the same function. */
export function decideDraft(draft: LinkDraft, visitor: TriedVisitor, winner: string | null): Tried {
  const rules: LinkRule[] = [];
  for (const [index, rule] of draft.rules.entries()) {
    try {
      const conditions = rule.conditions.map((condition, nth) =>
        readCondition(`condition ${nth + 1}`, conditionBody(condition)),
      );
      rules.push({ id: String(index), conditions, destination_url: rule.destination_url });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { by: 'nothing', why: `Rule ${index + 1} is not complete: ${problemIn(error)}` };
    }
  }
  const split = variantsOf(draft);
  const { ios, android, mobile, desktop } = draft;
  const targeting = Object.fromEntries(
    Object.entries({ ios, android, mobile, desktop }).filter(([, url]) => url.trim() !== ''),
  );
  const decide = compileDecisions({
    id: NOBODY,
    destination: draft.destination_url,
    rules,
    targeting,
    split,
    winner: winner ?? undefined,
  });
  const { url, ruleId, target, variantId } = decide({
    place: {
      country: visitor.country,
      continent: continentOf(visitor.country),
      region: visitor.region.trim().toUpperCase(),
    },
    language: visitor.language.trim() === '' ? '' : languageTag(visitor.language.trim()),
    agent: {
      device: RULE_DEVICES.find((known) => known === visitor.device) ?? 'desktop',
      os: SYSTEMS[visitor.os] ?? UNKNOWN_AGENT_PART,
      browser: visitor.browser.trim() || UNKNOWN_AGENT_PART,
    },
    channel: visitor.channel,
    visitor: visitor.visitor === 'returning' ? 'returning' : 'new',
    visitorId: NOBODY,
    query: visitor.query.replace(/^\?/, ''),
    now: visitor.at === '' ? Date.now() : Date.parse(visitor.at),
  });
  if (ruleId !== '') return { by: 'rule', index: Number(ruleId), url };
  if (target !== '') return { by: 'targeting', target, url };
  if (variantId === '') return { by: 'destination', url };
  const won = split.filter(({ id }) => id === winner);
  return { by: 'split', shares: sharesOf(won.length > 0 ? won : split) };
}

function problemIn(error: AppError): string {
  const [detail] = error.details ?? [];
  if (!detail) return error.message;
  return `${detail.path.replaceAll('.', ', ').replaceAll('_', ' ')} ${detail.message}`;
}

/** The variants of a draft; a new one has its place as id. */
export function variantsOf({ split }: Pick<LinkDraft, 'split'>): SplitVariant[] {
  return split.variants.map(({ id, destination_url, weight }, nth) => ({
    id: id ?? `variant ${nth + 1}`,
    destination_url,
    weight: Math.max(0, Number(weight) || 0),
  }));
}

/** The shares of variants. */
export function sharesOf(variants: readonly SplitVariant[]): { id: string; url: string; share: number }[] {
  const sum = variants.reduce((total, { weight }) => total + weight, 0);
  return variants.map(({ id, destination_url, weight }) => ({
    id,
    url: destination_url,
    share: sum === 0 ? 0 : weight / sum,
  }));
}
