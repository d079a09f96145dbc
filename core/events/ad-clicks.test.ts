import { expect, test } from 'vitest';
import { AD_PARAMETERS, adNetworkOf } from '../clicks/ad-networks.ts';
import { adClickIn } from './ad-clicks.ts';

test.each(Object.entries(AD_PARAMETERS))('%s is an id of %s', (param, network) => {
  expect(adClickIn(`a=1&${param}=Abc-_123&b=2`)).toEqual({ param, id: 'Abc-_123' });
  expect(adNetworkOf(param)).toBe(network);
});

test.each([
  ['the first of several', 'fbclid=f&gclid=g', { param: 'fbclid', id: 'f' }],
  ['one behind another without a value', 'gclid=&fbclid=f', { param: 'fbclid', id: 'f' }],
  ['an escaped name and value', 'g%63lid=a%2Bb', { param: 'gclid', id: 'a+b' }],
  ['one of 512 characters', `gclid=${'x'.repeat(512)}`, { param: 'gclid', id: 'x'.repeat(512) }],
  ['only the network of a longer one', `gclid=${'x'.repeat(513)}`, { param: 'gclid', id: '' }],
  ['only the network of one with a control character', 'gclid=a%00b', { param: 'gclid', id: '' }],
  ['only the network of one that is not UTF-8', 'gclid=a%E9b', { param: 'gclid', id: '' }],
  [
    'only the network of one with the character of what is not UTF-8',
    'gclid=%EF%BF%BD',
    { param: 'gclid', id: '' },
  ],
  ['an id beyond ASCII', 'gclid=%C3%A9', { param: 'gclid', id: 'é' }],
])('a query gives %s', (_, query, expected) => {
  expect(adClickIn(query)).toEqual(expected);
});

test.each(['', 'a=1', 'xgclid=1', 'GCLID=1', 'gclid', 'q=gclid', '%', 'constructor=1', 'utm_source=epikur'])(
  'a query "%s" gives none',
  (query) => {
    expect(adClickIn(query)).toBeNull();
  },
);
