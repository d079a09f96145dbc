import { expect, test } from 'vitest';
import { daysOf, type Entry, touchesOf } from './visits.ts';

const click = (ts: string, slug: string): Entry => ({ type: 'click', ts, slug, channel: 'youtube' });
const order = (ts: string): Entry => ({ type: 'order', ts, amount: 10, currency: 'usd' });
/** Days are those of the viewer: instants without a zone are local. */
const at = (local: string) => new Date(local).toISOString();

test('clicks within half an hour are one visit; a day, an order or a pause begins the next', () => {
  const days = daysOf([
    click(at('2026-03-01T10:00:00'), 'a'),
    click(at('2026-03-01T10:29:00'), 'b'),
    click(at('2026-03-01T10:59:00'), 'c'),
    click(at('2026-03-01T11:29:01'), 'd'),
    order(at('2026-03-01T11:30:00')),
    click(at('2026-03-01T11:31:00'), 'e'),
    click(at('2026-03-01T23:59:00'), 'f'),
    click(at('2026-03-02T00:01:00'), 'g'),
  ]);
  const shown = days.map(({ items }) =>
    items.map((item) => (item.type === 'visit' ? item.clicks.map(({ slug }) => slug).join('') : item.type)),
  );
  expect(shown).toEqual([['abc', 'd', 'order', 'e', 'f'], ['g']]);
  const keys = days.flatMap(({ items }) => items.map(({ key }) => key));
  expect(new Set(keys).size).toBe(keys.length);
});

test('the last touch is the last click before the newest order', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((slug, n) => click(at(`2026-03-0${n + 1}T10:00:00`), slug));
  if (!a || !b || !c) throw new Error('unreachable');
  expect(touchesOf([a, b, order(at('2026-03-02T12:00:00')), c])).toEqual({ first: a, last: b });
  expect(touchesOf([a, b, c])).toEqual({ first: a, last: c });
  expect(touchesOf([order(at('2026-02-01T12:00:00')), a])).toEqual({ first: a, last: null });
  expect(touchesOf([])).toEqual({ first: null, last: null });
});
