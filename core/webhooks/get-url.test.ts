import { expect, test } from 'vitest';
import { deliveryBody } from './delivery.ts';
import { filledUrl, hasPlaceholderInHost, placeholdersOf } from './get-url.ts';

const filled = (template: string, data: object, test?: true) =>
  filledUrl(template, deliveryBody({ id: 'e', type: 'sale.created', created_at: 'now', test, data }));

test('placeholders are values of the data, percent-encoded, and empty where the data has none', () => {
  const data = { order_id: 'a&b=ü/#?', amount: 12.5, ok: false, none: null, list: ['x'], of: { amount: 1 } };
  expect(filled('https://n.example/{order_id}?p={amount}&ok={ok}#{amount}', data)).toBe(
    'https://n.example/a%26b%3D%C3%BC%2F%23%3F?p=12.5&ok=false#12.5',
  );
  expect(filled('https://n.example/?a={none}{list}{of}{unknown}{constructor}&b={test}', data)).toBe(
    'https://n.example/?a=&b=',
  );
  expect(filled('https://n.example/?test={test}', data, true)).toBe('https://n.example/?test=true');
});

test('a value changes neither the path nor other placeholders, and other braces stay', () => {
  for (const dots of ['.', '..']) {
    const { pathname } = new URL(filled('https://n.example/a/{order_id}/b', { order_id: dots }));
    expect(pathname).toBe('/a//b');
  }
  expect(filled('https://n.example/?a={order_id}', { order_id: '{amount}$&', amount: 1 })).toBe(
    'https://n.example/?a=%7Bamount%7D%24%26',
  );
  expect(filled('https://n.example/?a={Amount}{}{{amount}}', { amount: 1 })).toBe(
    'https://n.example/?a={Amount}{}{1}',
  );
  expect(filled('https://n.example/?a={order_id}', { order_id: 'a\ud800\u0000' })).toBe(
    'https://n.example/?a=a%EF%BF%BD%00',
  );
});

test('the host has no placeholder', () => {
  expect(placeholdersOf('https://n.example/{a}?b={b}&a={a}')).toEqual(['a', 'b']);
  for (const url of ['https://{a}.example/', 'https://n.example:{port}', 'https://{a}@n.example?x={b}']) {
    expect(hasPlaceholderInHost(url), url).toBe(true);
  }
  for (const url of ['https://n.example/{a}', 'https://n.example?{a}', 'https://n.example#{a}']) {
    expect(hasPlaceholderInHost(url), url).toBe(false);
  }
});
