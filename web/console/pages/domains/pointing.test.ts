import { expect, test } from 'vitest';
import { pointingOf } from './pointing.ts';

test.each([
  ['https://hop.example', [{ type: 'CNAME', value: 'hop.example' }]],
  ['http://203.0.113.7:8080', [{ type: 'A', value: '203.0.113.7' }]],
  ['http://[2001:db8::7]:8080', [{ type: 'AAAA', value: '2001:db8::7' }]],
])('visitors are led to %s', (shortUrl, records) => {
  expect(pointingOf('go.brand.example', shortUrl)).toMatchObject({ kind: 'records', records });
});

test.each(['http://127.0.0.1:8080', 'http://localhost:8080', 'http://hop.localhost', 'http://[::1]:8080'])(
  'nothing leads to %s, which is each machine itself',
  (shortUrl) => {
    expect(pointingOf('go.brand.example', shortUrl)).toEqual({ kind: 'no-address' });
  },
);

test('a domain without a subdomain is told from one with', () => {
  const noteOf = (domain: string) => JSON.stringify(pointingOf(domain, 'https://hop.example'));
  expect(noteOf('brand.example')).toContain('Most providers allow no CNAME on brand.example itself');
  expect(noteOf('go.brand.example')).toContain('such as go and _hoplog.go');
});
