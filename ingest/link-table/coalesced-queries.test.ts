import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createCoalescedQueries, LookupUnavailable } from './coalesced-queries.ts';

const LIMITS = { timeoutMs: 1_000, concurrency: 2, waiting: 10, together: 3 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/**
 * A database that responds when told: the value of a key is the key in capitals; keys that begin with `no` do not
 * exist.
 */
function slowDatabase() {
  const statements: { keys: string[]; answer(): void; fail(): void }[] = [];
  const runQuery = (keys: string[]) =>
    new Promise<Map<string, string>>((resolve, reject) => {
      const found = keys.filter((key) => !key.startsWith('no'));
      statements.push({
        keys,
        answer: () => resolve(new Map(found.map((key) => [key, key.toUpperCase()]))),
        fail: () => reject(new Error('connection lost')),
      });
    });
  return { statements, runQuery };
}

/** Resolves at the end of this turn of the event loop, after its callbacks. */
const turn = () => new Promise(setImmediate);

test('lookups of one turn share a statement, and equal ones a result', async () => {
  const { statements, runQuery } = slowDatabase();
  const queries = createCoalescedQueries(runQuery, LIMITS);
  const answers = Promise.all(['a', 'none', 'a'].map((key) => queries.query(key)));
  await turn();
  const late = queries.query('a');
  expect(statements.map(({ keys }) => keys)).toEqual([['a', 'none']]);
  statements[0]?.answer();
  expect(await answers).toEqual(['A', null, 'A']);
  expect(await late).toBe('A');
  await turn();
  expect(statements).toHaveLength(1);
  void queries.query('a');
  await turn();
  expect(statements).toHaveLength(2);
});

test('statements are limited in number and size, and the rest follows when one ends', async () => {
  const { statements, runQuery } = slowDatabase();
  const queries = createCoalescedQueries(runQuery, LIMITS);
  const answers = Promise.all([...'abcdefgh'].map((key) => queries.query(key)));
  await turn();
  expect(statements.map(({ keys }) => keys.join(''))).toEqual(['abc', 'def']);
  const more = queries.query('i');
  await turn();
  expect(statements).toHaveLength(2);
  statements[1]?.answer();
  await turn();
  expect(statements.map(({ keys }) => keys.join(''))).toEqual(['abc', 'def', 'ghi']);
  statements[0]?.answer();
  statements[2]?.answer();
  expect(await answers).toEqual([...'ABCDEFGH']);
  expect(await more).toBe('I');
});

test('a failed statement fails its own lookups only', async () => {
  const { statements, runQuery } = slowDatabase();
  const queries = createCoalescedQueries(runQuery, LIMITS);
  const [a, b, c, d] = [...'abcd'].map((key) => queries.query(key).catch((error: unknown) => error));
  await turn();
  statements[0]?.fail();
  statements[1]?.answer();
  for (const failed of [a, b, c]) expect(await failed).toBeInstanceOf(LookupUnavailable);
  expect(await d).toBe('D');
  const again = queries.query('a');
  await turn();
  statements[2]?.answer();
  expect(await again).toBe('A');
});

test('no lookup exceeds its time limit, a database that hangs gets no more statements, and a late response is ignored', async () => {
  const { statements, runQuery } = slowDatabase();
  const queries = createCoalescedQueries(runQuery, { ...LIMITS, concurrency: 1 });
  const ask = (key: string) => queries.query(key).catch((error: unknown) => error);
  const first = ask('a');
  await turn();
  const second = ask('b');
  vi.advanceTimersByTime(LIMITS.timeoutMs);
  expect(await first).toBeInstanceOf(LookupUnavailable);
  expect(await second).toBeInstanceOf(LookupUnavailable);
  const third = ask('a');
  await turn();
  expect(statements).toHaveLength(1);
  // The first response serves no lookup any more; a later lookup still waits.
  statements[0]?.answer();
  await turn();
  expect(statements.map(({ keys }) => keys)).toEqual([['a'], ['a']]);
  const fourth = ask('a');
  statements[1]?.answer();
  expect(await Promise.all([third, fourth])).toEqual(['A', 'A']);
  await turn();
  expect(statements).toHaveLength(2);
});

test('a lookup beyond the queue’s limit is refused at once', async () => {
  const { runQuery } = slowDatabase();
  const queries = createCoalescedQueries(runQuery, LIMITS);
  for (let n = 0; n < 6; n++) queries.query(`running-${n}`).catch(() => undefined);
  await turn();
  for (let n = 0; n < LIMITS.waiting; n++) queries.query(`waiting-${n}`).catch(() => undefined);
  await expect(queries.query('one more')).rejects.toThrow('too many lookups wait');
});
