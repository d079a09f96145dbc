import { expect, test } from 'vitest';
import { cleanAddress, isOnSite, proposedName } from './clean-address.ts';

test('an address from another app loses what is around it, and gets its scheme', () => {
  for (const [typed, meant] of [
    ['example.com/hello', 'https://example.com/hello'],
    ['  https://example.com/a ', 'https://example.com/a'],
    ['<https://example.com/a>', 'https://example.com/a'],
    ['“example.com/a”', 'https://example.com/a'],
    ['"http://example.com"', 'http://example.com'],
    ['\u200bhttps://example.com/a\nb', 'https://example.com/ab'],
    ['https://example.com/a b', 'https://example.com/a%20b'],
    ['//example.com/a', 'https://example.com/a'],
    ['example.com:8080/a', 'https://example.com:8080/a'],
    ['localhost:3000', 'https://localhost:3000'],
    ['münchen.example?q=1', 'https://münchen.example?q=1'],
    ['myapp://product/17', 'myapp://product/17'],
    // No address: the API says what is wrong with it.
    ['hello', 'hello'],
    ['mailto:a@example.com', 'mailto:a@example.com'],
    ['javascript:alert(1)', 'javascript:alert(1)'],
    ['two words', 'two words'],
    ['', ''],
  ] as const) {
    expect([typed, cleanAddress(typed)]).toEqual([typed, meant]);
    expect(cleanAddress(meant)).toBe(meant);
  }
});

test('a name is proposed from the path, else from the host', () => {
  for (const [address, name] of [
    ['shop.example/summer-sale', 'Summer sale'],
    ['https://shop.example/a/new_shoes.html?x=1', 'New shoes'],
    ['https://www.shop.example/', 'shop.example'],
    ['https://shop.example/p/12345', 'shop.example'],
    ['https://shop.example/%E0%A4%A', 'shop.example'],
    ['no address', ''],
  ] as const) {
    expect([address, proposedName(address)]).toEqual([address, name]);
  }
});

test('a site has its own domain and what is below it', () => {
  expect(isOnSite('https://m.shop.example/a', 'shop.example')).toBe(true);
  expect(isOnSite('shop.example', 'Shop.example')).toBe(true);
  expect(isOnSite('https://myshop.example/', 'shop.example')).toBe(false);
});
