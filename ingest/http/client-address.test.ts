import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressBytes, addressText, mappedBytes } from './addresses.ts';
import { createClientAddresses } from './client-address.ts';

/** The calls that read addresses, with the values of a real connection. */
function addressesOf(
  trusted: string[],
  peer: string,
  lines: string[],
): Record<'byFirstLine' | 'byAllLines', string> {
  const bytes = addressBytes(peer) ?? new Uint8Array(16);
  const binary = peer.includes(':') ? bytes : bytes.slice(12);
  const request = {
    getHeader: () => lines[0] ?? '',
    forEach(tell: (name: string, value: string) => void) {
      for (const line of lines) tell('x-forwarded-for', line);
      tell('x-forwarded-proto', 'https');
    },
  } as unknown as HttpRequest;
  const response = { getRemoteAddress: () => Uint8Array.from(binary).buffer } as unknown as HttpResponse;
  const app = { filter: (follow: (res: HttpResponse, change: number) => void) => follow(response, 1) };
  const addresses = createClientAddresses(app as unknown as TemplatedApp, trusted);
  return {
    byFirstLine: addressText(addresses.byFirstLine(request, response)),
    byAllLines: addressText(addresses.byAllLines(request, response)),
  };
}

/** With one header line both readers agree. */
function addressOf(trusted: string[], peer: string, forwarded = ''): string {
  const { byFirstLine, byAllLines } = addressesOf(trusted, peer, [forwarded]);
  expect(byAllLines).toBe(byFirstLine);
  return byFirstLine;
}

test('without trusted proxies the peer is the client', () => {
  expect(addressOf([], '192.0.2.1', '198.51.100.7')).toBe('192.0.2.1');
});

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['203.0.113.9, 198.51.100.7', '198.51.100.7'],
  ['203.0.113.9, 198.51.100.7, 10.1.2.3', '198.51.100.7'],
  ['203.0.113.9, 198.51.100.7 ,10.1.2.3, 192.0.2.1', '198.51.100.7'],
  ['203.0.113.9,198.51.100.7', '198.51.100.7'],
  [' 198.51.100.7 ', '198.51.100.7'],
  [',198.51.100.7', '198.51.100.7'],
  [',10.1.2.3', '10.1.2.3'],
  ['198.51.100.7,', '192.0.2.1'],
  ['198.51.100.7:4711', '198.51.100.7'],
  ['[2001:db8::7]:4711', '2001:db8:0:0:0:0:0:7'],
  ['2001:db8::7', '2001:db8:0:0:0:0:0:7'],
  ['nonsense', '192.0.2.1'],
  ['198.51.100.7, nonsense, 10.1.2.3', '10.1.2.3'],
  ['', '192.0.2.1'],
])('behind a trusted proxy the last untrusted hop is the client (%j)', (forwarded, client) => {
  expect(addressOf(['192.0.2.1', '10.0.0.0/8'], '192.0.2.1', forwarded)).toBe(client);
});

test.each([
  [['203.0.113.9', '198.51.100.7'], '198.51.100.7'],
  [['203.0.113.9, 203.0.113.8', '198.51.100.7', '10.1.2.3'], '198.51.100.7'],
  [['203.0.113.9', 'nonsense'], '192.0.2.1'],
  [[], '192.0.2.1'],
])('a proxy’s own line counts, not the one that the client sent before it (%j)', (lines, client) => {
  expect(addressesOf(['192.0.2.1', '10.0.0.0/8'], '192.0.2.1', lines).byAllLines).toBe(client);
});

test('headers of an untrusted peer are ignored', () => {
  expect(addressOf(['10.0.0.0/8'], '192.0.2.1', '198.51.100.7')).toBe('192.0.2.1');
});

test('proxies may be IPv6, and IPv4 peers of a dual-stack socket are IPv4', () => {
  expect(addressOf(['2001:db8::/32'], '2001:db8::5', '198.51.100.7')).toBe('198.51.100.7');
  expect(addressOf(['10.0.0.0/8'], '::ffff:10.0.0.1', '198.51.100.7')).toBe('198.51.100.7');
});

test.each([
  ['192.0.2.1', '00000000000000000000ffffc0000201'],
  ['::', '00000000000000000000000000000000'],
  ['::1', '00000000000000000000000000000001'],
  ['2001:db8::1:0', '20010db8000000000000000000010000'],
  ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
  ['::ffff:192.0.2.1', '00000000000000000000ffffc0000201'],
  ['fe80::1%eth0', 'fe800000000000000000000000000001'],
])('%s is read as its 16 bytes', (text, hex) => {
  expect(Buffer.from(addressBytes(text) ?? []).toString('hex')).toBe(hex);
});

test('addresses are recognized as Node.js does', () => {
  const zeros = fc.constantFrom('', '', '', '0');
  const part = fc.tuple(zeros, fc.nat(299)).map(([zero, number]) => `${zero}${number}`);
  const dotted = fc.array(part, { minLength: 3, maxLength: 5 }).map((parts) => parts.join('.'));
  const soup = fc.string({ unit: fc.constantFrom(...'0129.:af /-'), maxLength: 9 });
  const edges = [
    '',
    '.',
    '1.2.3',
    '1.2.3.',
    '.1.2.3',
    '1..2.3',
    '1.2.3.4.',
    '00.0.0.0',
    '0.0.0.0',
    '255.255.255.255',
  ];
  let four = 0;
  fc.assert(
    fc.property(fc.oneof(dotted, soup, fc.ipV4(), fc.ipV6()), (text) => {
      const bytes = addressBytes(text);
      expect(bytes !== null).toBe(isIP(text) !== 0);
      if (bytes === null || isIP(text) !== 4) return;
      four += 1;
      expect(addressText(bytes)).toBe(text);
    }),
    { numRuns: 20_000, examples: edges.map((text) => [text]) },
  );
  expect(four).toBeGreaterThan(1_000);
});

test('an IPv4 peer’s 4 bytes are mapped into 16', () => {
  expect(addressText(mappedBytes(Uint8Array.of(192, 0, 2, 1).buffer))).toBe('192.0.2.1');
  expect(addressBytes('1.2.3')).toBeNull();
});
