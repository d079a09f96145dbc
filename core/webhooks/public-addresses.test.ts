import { describe, expect, test } from 'vitest';
import { isGloballyReachable } from './public-addresses.ts';
import { allowedAddresses, RefusedAddress } from './resolve-host.ts';

/**
 * The first and last addresses of each row of the IANA registries that is not globally reachable, and other spellings
 * of them.
 */
const REFUSED = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.1', '127.255.255.255'],
  ['169.254.0.0', '169.254.169.254'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.8', '192.0.0.170', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.88.99.1'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.1', '203.0.113.255'],
  ['224.0.0.1', '239.255.255.255', '240.0.0.0', '255.255.255.255'],
  ['::', '::1'],
  ['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1'],
  ['::127.0.0.1', '::8.8.8.8'],
  ['64:ff9b::127.0.0.1', '64:ff9b::a00:1', '64:ff9b::169.254.169.254'],
  ['64:ff9b:1::1', '64:ff9b:1::8.8.8.8'],
  ['100::1', '100:0:0:1::1'],
  ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:2::1', '2001:10::1', '2001:1ff:ffff::1'],
  ['2001:db8::1', '2001:db8:ffff::1'],
  ['2002:7f00:1::1', '2002:a00:1::', '2002:808:808::1'],
  ['3fff::1', '3fff:fff::1'],
  ['5f00::1', '4000::1'],
  ['fc00::1', 'fdff::1', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'fec0::1', 'ff02::1'],
  ['', 'localhost', '127.1', '0x7f.0.0.1', '2130706433', '1.2.3.4.5', '8.8.8.8 ', '08.8.8.8x'],
].flat();

const ALLOWED = [
  ['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0'],
  ['100.63.255.255', '100.128.0.0', '128.0.0.0', '126.255.255.255'],
  ['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.9', '192.0.0.10', '192.0.1.0', '192.31.196.1', '192.52.193.1', '192.175.48.1'],
  ['192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255'],
  ['2606:4700::1111', '2001:4860:4860::8888', '2001:200::1', '2620:4f:8000::1', '2003::1'],
  ['2001:1::1', '2001:3::1', '2001:4:112::1', '2001:20::1', '2001:30::1'],
  ['64:ff9b::8.8.8.8'],
].flat();

test.each(REFUSED)('%s is not globally reachable', (address) => {
  expect(isGloballyReachable(address)).toBe(false);
});

test.each(ALLOWED)('%s is globally reachable', (address) => {
  expect(isGloballyReachable(address)).toBe(true);
});

describe('a host', () => {
  const public4 = { address: '8.8.8.8', family: 4 } as const;
  const private4 = { address: '10.0.0.1', family: 4 } as const;
  const mapped = { address: '::ffff:10.0.0.1', family: 6 } as const;

  test('with one address that is not globally reachable is rejected with all', async () => {
    for (const hidden of [private4, mapped]) {
      const rules = { resolve: async () => [public4, hidden], allowPrivate: false };
      await expect(allowedAddresses('two.example', rules)).rejects.toThrow(RefusedAddress);
      expect(await allowedAddresses('two.example', { ...rules, allowPrivate: true })).toEqual([
        public4,
        hidden,
      ]);
    }
  });

  test('that is an address is not resolved', async () => {
    const rules = { resolve: () => Promise.reject(new Error('asked')), allowPrivate: false };
    expect(await allowedAddresses('8.8.8.8', rules)).toEqual([public4]);
    await expect(allowedAddresses('[::1]', rules)).rejects.toThrow('::1 is not a globally reachable');
    await expect(allowedAddresses('[::ffff:a00:1]', rules)).rejects.toThrow(RefusedAddress);
  });

  test('called localhost is this machine, in any spelling', async () => {
    const rules = { resolve: async () => [public4], allowPrivate: false };
    for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost']) {
      await expect(allowedAddresses(name, rules)).rejects.toThrow('127.0.0.1');
    }
    expect(await allowedAddresses('localhost.example', rules)).toEqual([public4]);
  });
});
