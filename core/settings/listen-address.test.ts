import { expect, test } from 'vitest';
import { listenAddress } from './listen-address.ts';

test.each([
  ['::', true, '::'],
  ['::', false, '0.0.0.0'],
  ['0.0.0.0', false, '0.0.0.0'],
  ['::1', false, '::1'],
  ['127.0.0.1', true, '127.0.0.1'],
])('%s on a kernel with IPv6 (%s) listens on %s', (text, hasIpv6, address) => {
  expect(listenAddress(text, hasIpv6)).toBe(address);
});
