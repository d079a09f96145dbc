import { expect, test } from 'vitest';
import type { AppError } from '../../errors.ts';
import { uuidToBytes, uuidv7 } from '../../ids.ts';
import { compileRules } from './compile.ts';
import { readRules, readSplit } from './read-rules.ts';
import { variantOf } from './split.ts';
import type { RuleVisit } from './types.ts';

const VISIT: RuleVisit = {
  place: { country: 'DE', continent: 'EU', region: 'DE-BE' },
  language: 'de-AT',
  agent: { device: 'desktop', os: 'Ubuntu', browser: 'Firefox' },
  channel: 'newsletter',
  visitor: 'new',
  query: 'coupon=Spring%20Sale&coupon=b&empty=',
  now: Date.parse('2026-11-25T22:30:00Z'), // Wednesday, 23:30 in Berlin
};
const UNKNOWN: RuleVisit = {
  ...VISIT,
  place: { country: '', continent: '', region: '' },
  language: '',
  agent: { device: 'tv', os: 'Other', browser: 'Other' },
  query: '',
};
const DESTINATIONS = { shortUrl: 'https://go.example' };

function ruleOf(condition: object) {
  const rule = { conditions: [condition as { type: string }], destination_url: 'https://shop.example/rule' };
  return readRules([rule], DESTINATIONS) ?? [];
}
const holds = (condition: object, visit = VISIT) => compileRules(ruleOf(condition))(visit) !== null;

const values = (type: string, ...given: string[]) => ({ type, operator: 'is', values: given });
test.each([
  values('country', 'at', 'de'),
  values('continent', 'eu'),
  values('region', 'de-be'),
  values('language', 'de'),
  values('language', 'DE-at'),
  values('device', 'desktop'),
  values('os', 'Linux'),
  values('browser', 'FIREFOX'),
  values('channel', 'newsletter'),
  values('visitor', 'new'),
])(
  '%o holds for the visitor, not for one of whom nothing is known, and is_not is the opposite',
  (condition) => {
    const opposite = { ...condition, operator: 'is_not' };
    expect(holds(condition)).toBe(true);
    expect(holds(opposite)).toBe(false);
    if (condition.type === 'visitor' || condition.type === 'channel') return;
    expect(holds(condition, UNKNOWN)).toBe(false);
    expect(holds(opposite, UNKNOWN)).toBe(true);
  },
);

test('a language with a region is that region only, with a script that script', () => {
  expect(holds(values('language', 'de-DE'))).toBe(false);
  expect(holds(values('language', 'de-AT'), { ...VISIT, language: 'de' })).toBe(false);
  expect(holds(values('language', 'zh-Hans-CN'), { ...VISIT, language: 'zh-CN' })).toBe(true);
  expect(holds(values('language', 'zh-Hant'), { ...VISIT, language: 'zh-CN' })).toBe(false);
  expect(holds(values('language', 'zh-Hant'), { ...VISIT, language: 'zh-HK' })).toBe(true);
});

test.each([
  [{ operator: 'is', name: 'coupon', values: ['x', 'Spring Sale'] }, true],
  [{ operator: 'is', name: 'coupon', values: ['spring sale'] }, false],
  [{ operator: 'is', name: 'empty', values: [''] }, true],
  [{ operator: 'is_not', name: 'coupon', values: ['b'] }, false],
  [{ operator: 'is_not', name: 'missing', values: ['b'] }, true],
  [{ operator: 'contains', name: 'coupon', values: ['SALE'] }, true],
  [{ operator: 'contains', name: 'coupon', values: ['winter'] }, false],
  [{ operator: 'exists', name: 'empty' }, true],
  [{ operator: 'exists', name: 'missing' }, false],
])('a query condition %o is %s', (condition, expected) => {
  expect(holds({ type: 'query', ...condition })).toBe(expected);
});

test('a time includes its start and not its end, and reads any offset', () => {
  const at = (now: string, condition: object) =>
    holds({ type: 'time', ...condition }, { ...VISIT, now: Date.parse(now) });
  const span = { after: '2026-11-25T10:00:00+01:00', before: '2026-11-25T10:00:00Z' };
  expect(at('2026-11-25T08:59:59.999Z', span)).toBe(false);
  expect(at('2026-11-25T09:00:00Z', span)).toBe(true);
  expect(at('2026-11-25T09:59:59.999Z', span)).toBe(true);
  expect(at('2026-11-25T10:00:00Z', span)).toBe(false);
  expect(at('2030-01-01T00:00:00Z', { after: '2026-11-25' })).toBe(true);
});

test.each([
  [{ days: [3], from: '23:00', to: '23:31' }, true],
  [{ days: [3], from: '23:00', to: '23:30' }, false],
  [{ days: [4], from: '23:00', to: '23:31' }, false],
  [{ days: [3], from: '22:00', to: '02:00' }, true],
  [{ days: [2], from: '22:00', to: '02:00' }, false],
  [{ days: [2], from: '23:45', to: '23:40' }, true],
  [{ days: [3], from: '00:00', to: '00:00' }, true],
])('hours of the week %o at 23:30 on Wednesday in Berlin are %s', (condition, expected) => {
  expect(holds({ type: 'weekly', time_zone: 'Europe/Berlin', ...condition })).toBe(expected);
});

test('hours past midnight belong to the day on which they begin, across the end of a week too', () => {
  const sunday = { type: 'weekly', days: [7], from: '22:00', to: '02:00', time_zone: 'Europe/Berlin' };
  const at = (now: string) => holds(sunday, { ...VISIT, now: Date.parse(now) });
  expect(at('2026-11-29T22:30:00Z')).toBe(true); // Sunday 23:30
  expect(at('2026-11-30T00:30:00Z')).toBe(true); // Monday 01:30
  expect(at('2026-11-30T01:00:00Z')).toBe(false); // Monday 02:00
  expect(at('2026-11-29T00:30:00Z')).toBe(false); // Sunday 01:30
});

test('the first rule whose conditions all hold decides', () => {
  const rules = readRules(
    [
      {
        id: 'both',
        conditions: [values('country', 'DE'), values('os', 'ios')],
        destination_url: 'https://shop.example/1',
      },
      { id: 'first', conditions: [values('country', 'DE')], destination_url: 'https://shop.example/2' },
      { id: 'second', conditions: [values('device', 'desktop')], destination_url: 'https://shop.example/3' },
    ],
    DESTINATIONS,
  );
  expect(compileRules(rules ?? [])(VISIT)?.id).toBe('first');
});

const weekly = { type: 'weekly', days: [1], from: '09:00', to: '17:00', time_zone: 'Europe/Berlin' };
test.each([
  [{ type: 'planet', operator: 'is', values: ['earth'] }, 'type'],
  [values('country'), 'values'],
  [values('country', 'DE', 'XY'), 'values.1'],
  [values('country', 'Germany'), 'values.0'],
  [values('continent', 'Europe'), 'values.0'],
  [values('region', 'Berlin'), 'values.0'],
  [values('region', 'XY-BE'), 'values.0'],
  [values('region', 'US-CA', 'US-ZZ'), 'values.1'],
  [values('region', 'ES-M'), 'values.0'],
  [values('browser', 'Foo'), 'values.0'],
  [values('language', 'German'), 'values.0'],
  [values('device', 'tv'), 'values.0'],
  [values('os', 'Ubuntu'), 'values.0'],
  [values('browser', ''), 'values.0'],
  [values('channel', 'fax'), 'values.0'],
  [values('visitor', 'old'), 'values.0'],
  [values('country', ...Array.from({ length: 251 }, () => 'DE')), 'values'],
  [{ ...values('country', 'DE'), operator: 'contains' }, 'operator'],
  [{ ...values('country', 'DE'), operator: undefined }, 'operator'],
  [{ ...values('country', 'DE'), value: 'DE' }, 'value'],
  [{ type: 'query', operator: 'is', values: ['x'] }, 'name'],
  [{ type: 'query', operator: 'exists', name: 'x', values: ['x'] }, 'values'],
  [{ type: 'query', operator: 'contains', name: 'x', values: [''] }, 'values.0'],
  [{ type: 'time' }, ''],
  [{ type: 'time', after: 'tomorrow' }, 'after'],
  [{ type: 'time', after: '2026-01-02', before: '2026-01-01' }, 'before'],
  [{ ...weekly, days: [] }, 'days'],
  [{ ...weekly, days: [0] }, 'days.0'],
  [{ ...weekly, from: '9:00' }, 'from'],
  [{ ...weekly, to: '24:00' }, 'to'],
  [{ ...weekly, time_zone: '+01:00' }, 'time_zone'],
  [{ ...weekly, time_zone: undefined }, 'time_zone'],
])('the condition %j is refused at its field %s', (condition, field) => {
  const path = ['rules.0.conditions.0', field].filter((part) => part !== '').join('.');
  expect(() => ruleOf(condition)).toThrow(
    expect.objectContaining({ details: [expect.objectContaining({ path })] }) as AppError,
  );
});

const variant = (id: string, weight: number) => ({
  id,
  weight,
  destination_url: `https://shop.example/${id}`,
});

test('100,000 visitors are split by weight within 1 %, on each link in another way', () => {
  const split = readSplit([variant('a', 50), variant('b', 30), variant('c', 20)], DESTINATIONS) ?? [];
  const links = [uuidToBytes(uuidv7()), uuidToBytes(uuidv7())];
  const counts = links.map(() => new Map<string, number>());
  let alike = 0;
  for (let nth = 0; nth < 100_000; nth++) {
    const visitor = uuidToBytes(crypto.randomUUID());
    const ids = links.map((link) => variantOf(split, visitor, link)?.id ?? '');
    for (const [at, id] of ids.entries()) counts[at]?.set(id, (counts[at]?.get(id) ?? 0) + 1);
    if (ids[0] === ids[1]) alike += 1;
  }
  for (const count of counts) {
    for (const { id, weight } of split) {
      expect(Math.abs((count.get(id) ?? 0) / 100_000 - weight / 100)).toBeLessThan(0.01);
    }
  }
  // Independent assignments agree for 0.5² + 0.3² + 0.2² of the visitors.
  expect(Math.abs(alike / 100_000 - 0.38)).toBeLessThan(0.01);
});

test('a visitor’s variant is fixed by visitor and link, as processes of any version compute it', () => {
  const split = [variant('a', 1), variant('b', 1), variant('c', 1)];
  const link = uuidToBytes('019aabf4-3c00-7000-8000-000000000002');
  const ids = Array.from({ length: 12 }, (_, nth) => {
    const visitor = uuidToBytes(`7d0c2f6e-9a51-8c38-8b7e-2f1a90d4c6${String(nth).padStart(2, '0')}`);
    return variantOf(split, visitor, link)?.id;
  });
  expect(ids.join('')).toBe('ccccbbbacbca');
});

test.each([
  [[variant('a', 1)], 'split'],
  [['a', 'b', 'c', 'd', 'e'].map((id) => variant(id, 1)), 'split'],
  [[variant('a', 1), variant('a', 1)], 'split.1.id'],
  [[{ ...variant('a', 1), id: 'a b' }, variant('c', 1)], 'split.0.id'],
  [[variant('a', 0), variant('c', 1)], 'split.0.weight'],
  [[variant('a', 101), variant('c', 1)], 'split.0.weight'],
  [[variant('a', 1), { ...variant('c', 1), destination_url: 'myapp://x' }], 'split.1.destination_url'],
  [[variant('a', 1), { ...variant('c', 1), url: 'https://shop.example' }], 'split.1.url'],
])('the split %j is refused at its field %s', (split, path) => {
  expect(() => readSplit(split, DESTINATIONS)).toThrow(
    expect.objectContaining({ details: [expect.objectContaining({ path })] }) as AppError,
  );
});

test('a rule on the system may lead to an app, and to no scheme that a browser runs', () => {
  const rule = (type: string, value: string, destination_url: string) => () =>
    readRules([{ conditions: [values(type, value)], destination_url }], DESTINATIONS);
  expect(rule('os', 'ios', 'myapp://product/17')).not.toThrow();
  expect(rule('device', 'mobile', 'myapp://product/17')).toThrow('rules.0.destination_url');
  for (const scheme of ['javascript', 'data', 'file', 'vbscript', 'blob', 'about', 'ftp', 'JavaScript']) {
    expect(rule('os', 'ios', `${scheme}://shop.example/x`)).toThrow('rules.0.destination_url');
  }
});
