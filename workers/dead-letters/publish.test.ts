import { afterEach, beforeEach, expect, it } from 'vitest';
import type { DeadTopic, PublishedLetter } from '../../core/event-log/open.ts';
import { addDeadLetters, markReplayed } from '../../sql/event-log/dead-letters.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { publishDeadLetters } from './publish.ts';

let stores: TestStores;
/** Ids of the letters that the topic holds. */
let copies: number[];

beforeEach(async () => {
  stores = await testStores();
  copies = [];
});
afterEach(() => stores.close());

async function addLetters(count: number): Promise<void> {
  const letters = Array.from({ length: count }, (_, index) => ({
    partition: 'hoplog.events.v1/0',
    logOffset: BigInt(index),
    streamId: null,
    sequence: null,
    reason: 'log_damage: unknown_format',
    payload: Buffer.from([index]),
  }));
  await addDeadLetters(stores.pool, letters);
}

/** A topic whose brokers run `answer` when a letter has reached them. */
function topicThat(answer: (letter: PublishedLetter) => Promise<void> = async () => {}): DeadTopic {
  return {
    async open() {},
    async publish(letter) {
      copies.push(letter.id);
      await answer(letter);
    },
    async close() {},
  };
}

const publish = (topic: DeadTopic) => publishDeadLetters({ pool: stores.pool, topic });

/** Simulates that all claims have expired. */
async function claimsRunOut(): Promise<void> {
  await stores.pool.query('UPDATE dead_letters SET publish_after = now() WHERE publish_after IS NOT NULL');
}

/** Returns the durations of the latest claims of letters, in minutes. */
async function claimMinutes(): Promise<number[]> {
  const { rows } = await stores.pool.query<{ minutes: string }>(
    `SELECT round(extract(epoch FROM publish_after - now()) / 60) AS minutes FROM dead_letters
     WHERE published_at IS NULL AND publish_after > now() ORDER BY id`,
  );
  return rows.map(({ minutes }) => Number(minutes));
}

it('copies every letter once, and holds no transaction open while it waits for Kafka', async () => {
  await addLetters(60);
  const open: unknown[] = [];
  const topic = topicThat(async () => {
    const { rows } = await stores.pool.query(
      `SELECT query FROM pg_stat_activity
       WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
         AND backend_type = 'client backend'`,
    );
    open.push(...rows);
  });
  expect(await publish(topic)).toBe(true);
  expect(await publish(topic)).toBe(false);
  expect(await publish(topic)).toBe(false);
  expect(copies).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  expect(open).toEqual([]);
});

it('copies none that was replayed before: nothing of it is left', async () => {
  await addLetters(3);
  await markReplayed(stores.pool, 2, { stored: [], of: [] });
  await publish(topicThat());
  expect(copies).toEqual([1, 3]);
  expect(await publish(topicThat())).toBe(false);
});

it('shares the letters among processes that publish at the same time', async () => {
  await addLetters(40);
  const slow = () => topicThat(() => new Promise((resolve) => setTimeout(resolve, 5)));
  await Promise.all([publish(slow()), publish(slow()), publish(slow())]);
  expect(copies.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
});

it('loses no letter without an acknowledgment, and retries a letter less often the more often it fails', async () => {
  await addLetters(2);
  const silent = topicThat(async ({ id }) => {
    if (id === 1) throw new Error('no answer within 10 s');
  });
  const waits: number[][] = [];
  for (let attempt = 0; attempt < 8; attempt++) {
    await expect(publish(silent)).rejects.toThrow('no answer');
    await publish(silent); // at once: later records continue, and the dead letter waits
    waits.push(await claimMinutes());
    await claimsRunOut();
  }
  expect(waits).toEqual([[2], [4], [8], [16], [32], [60], [60], [60]]);
  await publish(topicThat());
  await publish(topicThat());
  expect(copies.filter((id) => id === 1)).toHaveLength(9);
  expect(copies.filter((id) => id === 2)).toHaveLength(1);
  expect((await stores.pool.query('SELECT FROM dead_letters WHERE published_at IS NULL')).rowCount).toBe(0);
});

it('claims nothing while no broker can be reached', async () => {
  await addLetters(1);
  const gone: DeadTopic = { ...topicThat(), open: () => Promise.reject(new Error('unreachable')) };
  await expect(publish(gone)).rejects.toThrow('unreachable');
  expect(await claimMinutes()).toEqual([]);
  await publish(topicThat());
  expect(copies).toEqual([1]);
});

it('does not call Kafka when there is no letter', async () => {
  const refused: DeadTopic = { ...topicThat(), open: () => Promise.reject(new Error('asked for')) };
  expect(await publish(refused)).toBe(false);
});
