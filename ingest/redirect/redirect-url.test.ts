import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codePoint } from '../../test/support/code-point.ts';
import { buildRedirectUrl, Destination, isFromQrCode } from './redirect-url.ts';

const UTM = { utm_source: 'twitter', utm_medium: 'social', utm_campaign: 'Spring Sale' };
const VID = '0192aaaa-bbbb-8ccc-9ddd-eeeeeeeeeeee';

describe('a redirect without a query', () => {
  test('adds the UTM parameters and the visitor to the destination', () => {
    expect(buildRedirectUrl('https://shop.example/a', UTM, '', VID)).toBe(
      `https://shop.example/a?utm_source=twitter&utm_medium=social&utm_campaign=Spring%20Sale&_vid=${VID}`,
    );
  });

  test('keeps the destination’s own parameters first, in their order and spelling', () => {
    const url = buildRedirectUrl('https://shop.example/?b=%7E+x&a=&b=2', { utm_source: 'x' }, '', VID);
    expect(url).toBe(`https://shop.example/?b=%7E+x&a=&b=2&utm_source=x&_vid=${VID}`);
  });

  test('never overwrites a parameter that the destination already has', () => {
    const url = buildRedirectUrl('https://shop.example/?utm_source=mine&utm%5Fmedium=own', UTM, '', null);
    expect(url).toBe('https://shop.example/?utm_source=mine&utm%5Fmedium=own&utm_campaign=Spring%20Sale');
  });

  test('leaves the fragment at the end', () => {
    expect(buildRedirectUrl('https://shop.example/a#top?x=1', UTM, '', VID)).toMatch(
      new RegExp(`^https://shop\\.example/a\\?utm_source=.*&_vid=${VID}#top\\?x=1$`),
    );
  });

  test('adds no visitor when there is none', () => {
    expect(buildRedirectUrl('https://shop.example/', {}, '', null)).toBe('https://shop.example/');
    expect(buildRedirectUrl('https://shop.example/?', {}, '', VID)).toBe(`https://shop.example/?_vid=${VID}`);
    expect(buildRedirectUrl('https://shop.example/?a&', {}, '', VID)).toBe(
      `https://shop.example/?a&_vid=${VID}`,
    );
  });

  test('leaves out parameters that the link doesn’t have', () => {
    const parameters = { utm_source: null, utm_medium: 'social' };
    expect(buildRedirectUrl('https://shop.example/', parameters, '', null)).toBe(
      'https://shop.example/?utm_medium=social',
    );
  });

  test('adds the slug of a referral link', () => {
    expect(buildRedirectUrl('https://shop.example/', { ref: 'ann' }, '', null)).toBe(
      'https://shop.example/?ref=ann',
    );
  });

  test('keeps a `_vid` of the destination’s own', () => {
    expect(buildRedirectUrl('https://shop.example/?_vid=own', {}, '', VID)).toBe(
      'https://shop.example/?_vid=own',
    );
  });
});

test('an address that an app dials or looks up gets no parameters', () => {
  for (const address of ['tel:+4930123456', 'geo:52.5,13.4?q=Berlin', 'mailto:a@example.com'])
    expect(buildRedirectUrl(address, UTM, 'a=1', VID)).toBe(address);
});

describe('the visitor’s query', () => {
  const destination = new Destination('https://shop.example/?size=4#f', { utm_source: 'twitter' });

  test('is passed through unchanged, repeated names too', () => {
    expect(destination.urlFor('fbclid=a%20b&c=1&c=2&flag', VID)).toBe(
      `https://shop.example/?size=4&utm_source=twitter&fbclid=a%20b&c=1&c=2&flag&_vid=${VID}#f`,
    );
  });

  test('never replaces or repeats parameters of the destination or the link', () => {
    expect(destination.urlFor('size=9&utm_source=evil&s%69ze=8&utm_medium=mine', null)).toBe(
      'https://shop.example/?size=4&utm_source=twitter&utm_medium=mine#f',
    );
  });

  test('can’t set `_vid` or `ref`, however they are encoded', () => {
    expect(destination.urlFor('_vid=1&ref=2&%5Fvid=3&r%65f=4&_vid&ref&_v%69d=5&keep=6', VID)).toBe(
      `https://shop.example/?size=4&utm_source=twitter&keep=6&_vid=${VID}#f`,
    );
  });

  test('that only has forbidden or empty pieces adds nothing', () => {
    expect(destination.urlFor('&&_vid=1&', null)).toBe('https://shop.example/?size=4&utm_source=twitter#f');
  });

  test('can’t break out of the header or the query', () => {
    expect(destination.urlFor('a=\r\nSet-Cookie: x&b=#frag&c=<"\'>&d=ü\ud800', null)).toBe(
      'https://shop.example/?size=4&utm_source=twitter&a=%0D%0ASet-Cookie:%20x&b=%23frag&c=%3C%22%27%3E&d=%C3%BC%EF%BF%BD#f',
    );
  });
});

const word = fc.string({ unit: 'grapheme', maxLength: 8 });
const query = fc
  .array(fc.tuple(fc.oneof(word, fc.constantFrom('utm_source', 'a', '_vid', 'ref', 'size')), word), {
    maxLength: 6,
  })
  .map((pairs) =>
    new URLSearchParams(
      pairs.map(([k, v]) => [k.toWellFormed(), v.toWellFormed()] as [string, string]),
    ).toString(),
  );

test('for any destination and query: own parameters first, none lost, none forged, `_vid` once and last', () => {
  fc.assert(
    fc.property(query, query, fc.boolean(), (ownQuery, visitorQuery, hash) => {
      const destination = `https://shop.example/p${ownQuery ? `?${ownQuery}` : ''}${hash ? '#top' : ''}`;
      const url = new URL(buildRedirectUrl(destination, UTM, visitorQuery, VID));
      const own = [...new URL(destination).searchParams];
      const got = [...url.searchParams];
      expect(got.slice(0, own.length)).toEqual(own);
      const ownNames = new Set(own.map(([name]) => name));
      const taken = new Set([...ownNames, ...Object.keys(UTM)]);
      const expected = [
        ...own,
        ...Object.entries(UTM).filter(([name]) => !ownNames.has(name)),
        ...[...new URLSearchParams(visitorQuery)].filter(
          ([name]) => !taken.has(name) && name !== '_vid' && name !== 'ref',
        ),
        ...(ownNames.has('_vid') ? [] : [['_vid', VID]]),
      ];
      expect(got).toEqual(expected);
      expect(url.hash).toBe(hash ? '#top' : '');
    }),
    { numRuns: 500 },
  );
});

test('whatever a visitor sends, the address is visible ASCII and stays on the destination’s host', () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoint, maxLength: 60 }), (visitorQuery) => {
      const url = buildRedirectUrl('https://shop.example/p', UTM, visitorQuery, VID);
      expect(url).toMatch(/^[\x21-\x7e]+$/);
      expect(new URL(url).host).toBe('shop.example');
      expect(new URL(url).searchParams.getAll('_vid')).toEqual([VID]);
    }),
    { numRuns: 500 },
  );
});

describe('the labels of a visit', () => {
  const address = { domain: '', slug: 'Sale', ruleId: '', variantId: '' };
  const labelsOf = (destination: string, query: string) =>
    new Destination(destination, UTM, address).labelsFor(query);

  test('are the UTM parameters that the destination gets: its own, then the link’s, then the visitor’s', () => {
    expect(labelsOf('https://shop.example/?utm_source=mine&utm_source=two#?utm_term=x', '')).toEqual({
      domain: '',
      slug: 'Sale',
      utmSource: 'mine',
      utmMedium: 'social',
      utmCampaign: 'Spring Sale',
      utmTerm: '',
      utmContent: '',
      ruleId: '',
      variantId: '',
    });
    expect(
      labelsOf('https://shop.example/', 'utm_source=his&utm_term=red+shoes&utm%5Fcontent=a%26b'),
    ).toMatchObject({
      utmSource: 'twitter',
      utmTerm: 'red shoes',
      utmContent: 'a&b',
    });
  });

  test('agree with the parameters of the address that the visitor is sent to', () => {
    const names = fc.constantFrom('utm_source', 'utm_term', 'utm%5Fterm', 'utm_content', 'a', 'qr');
    const values = fc.oneof(fc.webQueryParameters(), fc.constantFrom('', '1', 'x%20y', '%E4', 'a+b'));
    const query = fc.array(fc.tuple(names, values), { maxLength: 5 });
    fc.assert(
      fc.property(query, query, (own, visitors) => {
        const text = (pairs: [string, string][]) =>
          pairs.map(([name, value]) => `${name}=${value}`).join('&');
        const destination = new Destination(`https://shop.example/?${text(own)}`, UTM, address);
        const sent = new URL(destination.urlFor(text(visitors), VID)).searchParams;
        const labels = destination.labelsFor(text(visitors));
        const got = (name: string) => (sent.get(name) ?? '').replaceAll(/\p{Cc}/gu, '').slice(0, 255);
        expect(labels).toMatchObject({
          utmSource: got('utm_source'),
          utmMedium: got('utm_medium'),
          utmTerm: got('utm_term'),
          utmContent: got('utm_content'),
        });
      }),
    );
  });

  test('are one object for every visit whose query has no UTM parameter', () => {
    const destination = new Destination('https://shop.example/', UTM, address);
    expect(destination.labelsFor('a=1')).toBe(destination.labelsFor(''));
  });

  test('hold at most 255 characters of a value, without control characters', () => {
    const { utmTerm } = labelsOf('https://shop.example/', `utm_term=%0Aa${'b'.repeat(500)}`);
    expect(utmTerm).toBe(`a${'b'.repeat(254)}`);
  });
});

test('the mark of a QR code stays here', () => {
  expect(buildRedirectUrl('https://shop.example/', {}, 'qr=1', null)).toBe('https://shop.example/');
  expect(buildRedirectUrl('https://shop.example/', {}, 'a=1&qr=1&b=2', null)).toBe(
    'https://shop.example/?a=1&b=2',
  );
  expect(buildRedirectUrl('https://shop.example/?qr=1', {}, 'qr=2', null)).toBe('https://shop.example/?qr=1');
  expect(['', 'qr=1', 'a=1&qr=1', 'qr=2', 'aqr=1', 'qr=12'].map(isFromQrCode)).toEqual([
    false,
    true,
    true,
    false,
    false,
    false,
  ]);
});
