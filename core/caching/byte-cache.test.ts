import { expect, test } from 'vitest';
import { createByteCache } from './byte-cache.ts';

function textCache(slots: number, longest: number) {
  const reads: string[] = [];
  const cache = createByteCache({
    slots,
    longest,
    read(bytes, from, to) {
      const text = bytes.toString('utf8', from, to);
      reads.push(text);
      return { text };
    },
  });
  const of = (text: string) => {
    const bytes = Buffer.from(`before ${text} after`);
    return cache(bytes, 7, bytes.length - 6);
  };
  return { of, reads };
}

test('equal bytes are read once and have one result', () => {
  const { of, reads } = textCache(64, 32);
  const texts = ['', 'twitter', 'münchen', '東京', 'a'.repeat(32)];
  const first = texts.map((text) => of(text));
  expect(first.map(({ text }) => text)).toEqual(texts);
  texts.forEach((text, n) => {
    expect(of(text)).toBe(first[n]);
  });
  expect(reads).toEqual(texts);
});

test('different bytes in one slot have different results', () => {
  const { of } = textCache(1, 64);
  const long = 'x'.repeat(40);
  const texts = ['', 'a', 'b', 'ab', long, `${long.slice(0, 20)}y${long.slice(21)}`, '\0', '\0\0'];
  for (let round = 0; round < 3; round++) for (const text of texts) expect(of(text).text).toBe(text);
  for (const text of texts.toReversed()) expect(of(text).text).toBe(text);
});

test('bytes longer than a slot are read each time, and the result changes nothing', () => {
  const { of, reads } = textCache(1, 8);
  const short = of('12345678');
  expect(of('123456789').text).toBe('123456789');
  expect(of('123456789').text).toBe('123456789');
  expect(of('12345678')).toBe(short);
  expect(reads).toEqual(['12345678', '123456789', '123456789']);
});

test('many values and few slots give each value its own result', () => {
  const { of } = textCache(16, 64);
  const texts = Array.from({ length: 200 }, (_, n) => `https://example-${n}.com/${'p'.repeat(n % 60)}`);
  for (let round = 0; round < 3; round++) for (const text of texts) expect(of(text).text).toBe(text);
});
