import { expect, test } from 'vitest';
import { inBlocks, isAddressBlock } from './address-blocks.ts';

test.each(['192.0.2.1', '10.0.0.0/8', '0.0.0.0/0', '::1', '2001:db8::/32', '::/0'])(
  '%s is an address or a block',
  (text) => {
    expect(isAddressBlock(text)).toBe(true);
  },
);

test.each([
  '',
  'nonsense',
  '10.0.0.0/33',
  '10.0.0.0/',
  '::/129',
  '10.0.0.0/x',
  '10.0.0.0/1e1',
  '10.0.0.0/8/8',
])('%j is not an address block', (text) => {
  expect(isAddressBlock(text)).toBe(false);
});

test.each([
  ['192.0.2.1', true],
  ['192.0.2.2', false],
  ['10.1.2.3', true],
  ['::ffff:10.1.2.3', true],
  ['2001:db8::5', true],
  ['2001:db9::5', false],
  ['nonsense', false],
  ['', false],
])('%j is in the blocks: %s', (address, expected) => {
  expect(inBlocks(['192.0.2.1', '10.0.0.0/8', '2001:db8::/32'])(address)).toBe(expected);
});

test('a block may contain all addresses', () => {
  expect(inBlocks(['0.0.0.0/0'])('203.0.113.9')).toBe(true);
  expect(inBlocks([])('203.0.113.9')).toBe(false);
});
