import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurns, TURNS } from './turns.ts';

/** Work that ends when the test says so. */
function held() {
  let end: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { work: () => done, end: () => end() };
}

const sentAway = () => undefined;

test('an unknown receiver gets few attempts at a time, one that answers quickly gets many', async () => {
  const turns = createTurns();
  const first = held();
  const begun = Array.from({ length: 10 }, () => turns.run('a', first.work, sentAway));
  expect([turns.inFlight(), turns.waiting()]).toEqual([TURNS.atATime.unknown, 10 - TURNS.atATime.unknown]);
  first.end();
  await Promise.all(begun);
  const second = held();
  const more = Array.from({ length: 100 }, () => turns.run('a', second.work, sentAway));
  expect(turns.inFlight()).toBe(TURNS.atATime.fast);
  second.end();
  await Promise.all(more);
  expect([turns.inFlight(), turns.waiting()]).toEqual([0, 0]);
});

test('receivers that answer nobody hold up no other, however many they are', async () => {
  const turns = createTurns();
  const dead = held();
  const stuck = Array.from({ length: 600 }, (_, index) =>
    Array.from({ length: 4 }, () => turns.run(`dead-${index}`, dead.work, sentAway)),
  ).flat();
  // The pool is full of them: one second later they have left it.
  let served = 0;
  for (let delivery = 0; delivery < 200; delivery++) {
    await turns.run(
      'alive',
      async () => {
        served += 1;
      },
      sentAway,
    );
  }
  expect(served).toBe(200);
  expect(turns.roomForNew('dead-0')).toBe(0);
  expect(turns.roomForNew('alive')).toBe(TURNS.newWaiting.fast);
  dead.end();
  await Promise.all(stuck);
  expect([turns.inFlight(), turns.waiting()]).toEqual([0, 0]);
});

test('those that wait for a receiver that has become slow are sent away', async () => {
  const turns = createTurns();
  const slow = held();
  const outcomes = Array.from({ length: 50 }, () =>
    turns.run(
      'slow',
      async () => {
        await slow.work();
        return 'attempted';
      },
      () => 'sent away',
    ),
  );
  await sleep(TURNS.slowAfterMs + 200);
  slow.end();
  const counts = Map.groupBy(await Promise.all(outcomes), (outcome) => outcome);
  expect(counts.get('sent away')?.length).toBe(50 - TURNS.atATime.unknown - TURNS.storedWaiting.slow);
  expect(turns.waiting()).toBe(0);
});

test('a receiver whose attempts fail gives its places back', async () => {
  const turns = createTurns();
  await expect(turns.run('a', () => Promise.reject(new Error('no')), sentAway)).rejects.toThrow('no');
  expect(turns.inFlight()).toBe(0);
});
