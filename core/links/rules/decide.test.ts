import { expect, test } from 'vitest';
import type { City } from '../../enrich/geo.ts';
import type { UserAgentProfile } from '../../enrich/user-agents.ts';
import { compileDecisions, type DecidingLink, type DecidingVisit } from './decide.ts';
import type { RuleCondition } from './types.ts';

const at = (name: string) => `https://example.com/${name}`;
const rule = (id: string, ...conditions: RuleCondition[]) => ({ id, conditions, destination_url: at(id) });
const phone: RuleCondition = { type: 'device', operator: 'is', values: ['mobile'] };
const german: RuleCondition = { type: 'language', operator: 'is', values: ['de'] };
const inBerlin: RuleCondition = { type: 'region', operator: 'is', values: ['DE-BE'] };
const inGermany: RuleCondition = { type: 'country', operator: 'is', values: ['DE'] };

/** A German on a phone in Berlin. It records which facts are read. */
class Visitor implements DecidingVisit {
  readonly asked: string[] = [];
  readonly visitorId: Uint8Array;
  readonly channel = 'newsletter';
  readonly visitor = 'new';
  readonly query = '';
  readonly now = 0;

  constructor(visitorId = new Uint8Array(16)) {
    this.visitorId = visitorId;
  }

  get place(): City {
    this.asked.push('place');
    return { country: 'DE', continent: 'EU', region: 'DE-BE', city: 'Berlin' };
  }

  get agent(): UserAgentProfile {
    this.asked.push('agent');
    return { device: 'mobile', os: 'Android', browser: 'Chrome', bot: false };
  }

  get language(): string {
    this.asked.push('language');
    return 'de-AT';
  }
}

function decided(link: Partial<DecidingLink>) {
  const visitor = new Visitor();
  const decide = compileDecisions({ id: new Uint8Array(16), destination: at('own'), ...link });
  const { url } = decide(visitor);
  return { path: new URL(url).pathname, asked: visitor.asked };
}

test('a place is looked up only when a rule gets to ask for it', () => {
  expect(decided({ rules: [rule('berlin', inBerlin)] })).toEqual({ path: '/berlin', asked: ['place'] });
  expect(decided({ rules: [rule('german', german)] }).asked).not.toContain('place');
  // An earlier rule decides.
  expect(decided({ rules: [rule('german', german), rule('berlin', inBerlin)] })).toEqual({
    path: '/german',
    asked: ['language'],
  });
  // An earlier condition of the rule fails.
  const french: RuleCondition = { ...german, values: ['fr'] };
  expect(decided({ rules: [rule('never', french, inGermany)] })).toEqual({
    path: '/own',
    asked: ['language'],
  });
});

test('neither targeting nor a split asks for a place, and a link with nothing asks for nothing', () => {
  expect(decided({ targeting: { android: at('android') } })).toEqual({ path: '/android', asked: ['agent'] });
  const split = ['a', 'b'].map((id) => ({ id, weight: 1, destination_url: at('variant') }));
  expect(decided({ split })).toEqual({ path: '/variant', asked: [] });
  expect(decided({})).toEqual({ path: '/own', asked: [] });
});

test('rules decide before targeting, targeting before the split, and the split before the destination', () => {
  const split = ['a', 'b'].map((id) => ({ id, weight: 1, destination_url: at('variant') }));
  const targeting = { mobile: at('mobile') };
  expect(decided({ rules: [rule('phone', phone)], targeting, split }).path).toBe('/phone');
  expect(decided({ targeting, split }).path).toBe('/mobile');
  expect(decided({ targeting: { desktop: at('desktop') }, split }).path).toBe('/variant');
});

test('a visitor keeps a variant when the variants are sent in another order', () => {
  const split = [
    { id: 'b', weight: 50, destination_url: at('b') },
    { id: 'a', weight: 20, destination_url: at('a') },
    { id: 'c', weight: 30, destination_url: at('c') },
  ];
  const visitors = Array.from({ length: 60 }, (_, nth) => new Visitor(new Uint8Array(16).fill(nth)));
  const ids = (variants: DecidingLink['split']) => {
    const decide = compileDecisions({ id: new Uint8Array(16), destination: at('own'), split: variants });
    return visitors.map((visitor) => decide(visitor).variantId).join('');
  };
  expect(new Set(ids(split))).toEqual(new Set('abc'));
  expect(ids(split.toReversed())).toBe(ids(split));
  expect(ids(split.toSorted((one, other) => other.weight - one.weight))).toBe(ids(split));
});
