import { expect, test } from 'vitest';
import { addressHash } from './address-hash.ts';

const KEY = Buffer.alloc(32, 7);
const hash = (address: string, workspace = 'w') =>
  addressHash(KEY, workspace, address)?.toString('hex') ?? null;

test('every spelling of an address has one hash', () => {
  expect(hash('203.0.113.9')).toBe(hash('::ffff:203.0.113.9'));
  expect(hash('203.0.113.9')).toBe(hash('::FFFF:cb00:7109'));
  expect(hash('203.0.113.9')).not.toBe(hash('203.0.113.10'));
  expect(hash('2001:db8::1')).toBe(hash('2001:0DB8:0:0::1'));
  expect(hash('fe80::1%eth0')).toBe(hash('fe80::1'));
});

test('the hash of an IPv6 address is that of its network', () => {
  expect(hash('2001:db8:1:2::1')).toBe(hash('2001:db8:1:2:aaaa:bbbb:cccc:dddd'));
  expect(hash('2001:db8:1:2::1')).not.toBe(hash('2001:db8:1:3::1'));
});

test('hashes of two workspaces or keys differ, and malformed addresses have none', () => {
  expect(hash('203.0.113.9', 'a')).not.toBe(hash('203.0.113.9', 'b'));
  expect(addressHash(Buffer.alloc(32, 8), 'w', '203.0.113.9')?.toString('hex')).not.toBe(hash('203.0.113.9'));
  expect(hash('unix')).toBeNull();
  expect(hash('')).toBeNull();
});

test('the port that a proxy adds is not part of an address', () => {
  expect(hash('203.0.113.9:4711')).toBe(hash('203.0.113.9'));
  expect(hash('[2001:db8::1]:4711')).toBe(hash('2001:db8::1'));
  expect(hash('[::1]:4711')).toBe(hash('::1'));
  expect(hash('[fe80::1%eth0]:80')).toBe(hash('fe80::1'));
  expect(hash('[::ffff:203.0.113.9]:80')).toBe(hash('203.0.113.9'));
  expect(hash('203.0.113.9:')).toBe(hash('203.0.113.9'));
  expect(hash('unix:4711')).toBeNull();
  expect(hash('[')).toBeNull();
});
