import { expect, test } from 'vitest';
import { CLICK_NAMES } from '../../../../core/clicks/field-names.ts';
import type { Click } from '../../api/click.ts';
import { addClicks, addRecent, EMPTY_LIST, MOST_ROWS, perMinute, perSecond, release } from './live-list.ts';

const NOW = Date.parse('2026-11-20T10:01:00Z');

/** A click this many seconds ago. */
const click = (id: string, before = 0): Click => ({
  ...(Object.fromEntries(CLICK_NAMES.map((name) => [name, ''])) as unknown as Click),
  id,
  ts: `${new Date(NOW - before * 1_000).toISOString().slice(0, -1)}000Z`,
  link_id: 'l',
  visitor_id: 'v',
  channel: 'facebook',
  country: 'DE',
});
const ids = (clicks: readonly Click[]) => clicks.map(({ id }) => id).join('');

test('sorts clicks newest first and drops duplicates, in any order of arrival', () => {
  let list = addClicks(EMPTY_LIST, [click('b', 20), click('d', 5)], false, NOW);
  list = addClicks(list, [click('a', 30), click('d', 5), click('c', 10)], false, NOW);
  expect(ids(list.rows)).toBe('dcba');
  expect(perMinute(list, NOW)).toBe(4);
});

test('limits the rows, and does not add a dropped click again', () => {
  const many = Array.from({ length: MOST_ROWS + 50 }, (_, n) => click(`${n}`, n / 10));
  let list = addClicks(EMPTY_LIST, many, false, NOW);
  expect(list.rows).toHaveLength(MOST_ROWS);
  expect(perMinute(list, NOW)).toBe(MOST_ROWS + 50);
  list = addClicks(list, many, false, NOW);
  expect(list.rows.map(({ id }) => id)).toEqual(many.slice(0, MOST_ROWS).map(({ id }) => id));
  expect(perMinute(list, NOW)).toBe(MOST_ROWS + 50);
});

test('a paused list counts new clicks, and shows them after it resumes', () => {
  let list = addClicks(EMPTY_LIST, [click('a', 30)], false, NOW);
  list = addClicks(list, [click('b', 20), click('a', 30)], true, NOW);
  list = addClicks(list, [click('c', 10), click('b', 20)], true, NOW);
  expect([ids(list.rows), list.heldCount, perMinute(list, NOW)]).toEqual(['a', 2, 3]);
  list = release(list);
  expect([ids(list.rows), list.heldCount]).toEqual(['cba', 0]);
});

test('the first clicks are not new; those of the stream are, shown or held', () => {
  let list = addRecent(EMPTY_LIST, [click('b', 20), click('a', 30)], false, NOW);
  expect([ids(list.rows), list.newCount]).toEqual(['ba', 0]);
  list = addClicks(list, [click('c', 10), click('b', 20)], false, NOW);
  list = addClicks(list, [click('d', 5)], true, NOW);
  expect([ids(list.rows), list.newCount, list.heldCount]).toEqual(['cba', 2, 1]);
  expect(release(list).newCount).toBe(2);
});

test('a paused list shows the first clicks of another filter', () => {
  const list = addRecent(EMPTY_LIST, [click('b', 20), click('a', 30)], true, NOW);
  expect([ids(list.rows), list.heldCount, list.newCount]).toEqual(['ba', 0, 0]);
});

test.each([true, false])(
  'after a break, clicks that had left the rows are not counted again (paused: %s)',
  (isPaused) => {
    const old = Array.from({ length: MOST_ROWS * 2 }, (_, n) => click(`${n}`, 100 + n));
    const before = addRecent(EMPTY_LIST, old, false, NOW);
    const list = addRecent(before, [click('new', 70), ...old], isPaused, NOW);
    expect([list.newCount, list.heldCount]).toEqual([1, isPaused ? 1 : 0]);
  },
);

test('does not count a click after a minute', () => {
  const list = addClicks(EMPTY_LIST, [click('a', 50), click('b', 70)], false, NOW);
  expect(perMinute(list, NOW)).toBe(1);
  expect(perMinute(list, NOW + 11_000)).toBe(0);
  const recent = addClicks(EMPTY_LIST, [click('a', 1), click('b', 9), click('c', 10)], false, NOW);
  expect([perSecond(recent, NOW), perSecond(recent, NOW + 2_000)]).toEqual([0.2, 0.1]);
});
