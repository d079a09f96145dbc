import { afterEach, describe, expect, test, vi } from 'vitest';
import { CONCURRENCY, createConcurrencyLimit } from './concurrency-limit.ts';

/** Work that ends when the test says so. */
function held() {
  let end: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { work: () => done, end: () => end() };
}

const defer = () => undefined;
const hook = (id: string, workspaceId = 'workspace', host = id) => ({ id, host, workspaceId });

/** Lets attempts that are under way take long enough to be slow. */
const letTimePass = () => vi.advanceTimersByTimeAsync(CONCURRENCY.slowAfterMs);
afterEach(() => vi.useRealTimers());

test('an unknown receiver gets few concurrent attempts, one that responds quickly gets many', async () => {
  const turns = createConcurrencyLimit();
  const first = held();
  const begun = Array.from({ length: 10 }, () => turns.run(hook('a'), first.work, defer));
  expect([turns.inFlight(), turns.waiting()]).toEqual([
    CONCURRENCY.atATime.unknown,
    10 - CONCURRENCY.atATime.unknown,
  ]);
  first.end();
  await Promise.all(begun);
  const second = held();
  const more = Array.from({ length: 100 }, () => turns.run(hook('a'), second.work, defer));
  expect(turns.inFlight()).toBe(CONCURRENCY.atATime.fast);
  second.end();
  await Promise.all(more);
  expect([turns.inFlight(), turns.waiting()]).toEqual([0, 0]);
});

test('receivers that never respond delay no other receiver, however many they are', async () => {
  const turns = createConcurrencyLimit();
  const dead = held();
  const stuck = Array.from({ length: 600 }, (_, index) =>
    Array.from({ length: 4 }, () => turns.run(hook(`dead-${index}`), dead.work, defer)),
  ).flat();
  // The dead receivers fill the pool, and leave it after one second.
  let served = 0;
  for (let delivery = 0; delivery < 200; delivery++) {
    await turns.run(
      hook('alive'),
      async () => {
        served += 1;
      },
      defer,
    );
  }
  expect(served).toBe(200);
  expect(turns.roomForNew(hook('dead-0'))).toBe(0);
  expect(turns.roomForNew(hook('alive'))).toBe(CONCURRENCY.newWaiting.fast);
  dead.end();
  await Promise.all(stuck);
  expect([turns.inFlight(), turns.waiting()]).toEqual([0, 0]);
});

test('attempts that wait for a receiver that became slow are stored instead', async () => {
  vi.useFakeTimers();
  const turns = createConcurrencyLimit();
  const slow = held();
  const outcomes = Array.from({ length: 50 }, () =>
    turns.run(
      hook('slow'),
      async () => {
        await slow.work();
        return 'attempted';
      },
      () => 'sent away',
    ),
  );
  await letTimePass();
  slow.end();
  const counts = Map.groupBy(await Promise.all(outcomes), (outcome) => outcome);
  expect(counts.get('sent away')?.length).toBe(
    50 - CONCURRENCY.atATime.unknown - CONCURRENCY.storedWaiting.slow,
  );
  expect(turns.waiting()).toBe(0);
});

test('a receiver whose attempts fail releases its slots', async () => {
  const turns = createConcurrencyLimit();
  await expect(turns.run(hook('a'), () => Promise.reject(new Error('no')), defer)).rejects.toThrow('no');
  expect(turns.inFlight()).toBe(0);
});

test('deliveries that wait for slow receivers take no room from a quick one', async () => {
  vi.useFakeTimers();
  const turns = createConcurrencyLimit();
  const dead = held();
  const hooks = Array.from({ length: 1_100 }, (_, index) => hook(`dead-${index}`, `workspace-${index}`));
  const stuck = hooks.flatMap((one) => Array.from({ length: 12 }, () => turns.run(one, dead.work, defer)));
  // Each second this many leave the quick pool.
  for (let left = hooks.length; left > 0; left -= CONCURRENCY.poolSize / CONCURRENCY.atATime.unknown)
    await letTimePass();
  expect(hooks.map((one) => turns.roomForNew(one))).toEqual(hooks.map(() => 0));
  expect(turns.roomForNew(hook('alive'))).toBe(CONCURRENCY.newWaiting.unknown);
  expect(turns.roomForStored()(hook('alive'), 1_000)).toBe(CONCURRENCY.storedWaiting.unknown);
  dead.end();
  await Promise.all(stuck);
  expect([turns.inFlight(), turns.waiting()]).toEqual([0, 0]);
});

test('the slow receivers of one workspace leave slots to those of another', async () => {
  vi.useFakeTimers();
  const turns = createConcurrencyLimit();
  const dead = held();
  const many = Array.from({ length: 200 }, (_, index) => hook(`dead-${index}`, 'greedy'));
  const other = hook('slow', 'modest');
  const stuck = [...many.flatMap((one) => [one, one, one, one]), other].map((one) =>
    turns.run(one, dead.work, defer),
  );
  await letTimePass();
  await letTimePass();
  expect([turns.inFlight(), turns.waiting()]).toEqual([801, 0]);

  const begun: string[] = [];
  const begin = (one: typeof other) => {
    const work = () => {
      begun.push(one.workspaceId);
      return dead.work();
    };
    stuck.push(turns.run(one, work, defer));
  };
  for (const one of [...many.slice(0, 10), other]) begin(one);
  await letTimePass();
  expect(begun).toEqual(['modest']);

  const roomFor = turns.roomForStored();
  const rooms = many.map((one) => roomFor(one, 8));
  expect(rooms.reduce((sum, room) => sum + room)).toBe(CONCURRENCY.waiting.slowOfWorkspace - 10);
  expect(roomFor(other, 8)).toBe(8);
  dead.end();
  await Promise.all(stuck);
  expect(begun).toHaveLength(11);
  expect([turns.inFlight(), turns.waiting()]).toEqual([0, 0]);
});

test('a slow hook begins one attempt although hooks that never answer hold the part of its workspace', async () => {
  vi.useFakeTimers();
  const turns = createConcurrencyLimit();
  const [dead, late] = [held(), held()];
  const stuck = Array.from({ length: CONCURRENCY.slowOfWorkspace }, (_, index) =>
    turns.run(hook(`dead-${index % 20}`), dead.work, defer),
  );
  const first = turns.run(hook('alive'), late.work, defer);
  await letTimePass();
  late.end();
  await first;
  let served = 0;
  const serve = () =>
    turns.run(
      hook('alive'),
      async () => {
        served += 1;
      },
      defer,
    );
  await Promise.all([serve(), serve(), serve()]);
  expect(served).toBe(3);
  dead.end();
  await vi.advanceTimersByTimeAsync(CONCURRENCY.slowAfterMs);
  await Promise.all(stuck);
  expect([turns.inFlight(), turns.waiting()]).toEqual([0, 0]);
});

describe('two hooks of a workspace at one host, one of which never answers', () => {
  const [dead, alive] = [hook('dead', 'workspace', 'host'), hook('alive', 'workspace', 'host')];

  test('leave the other its places after a second, also those of queued deliveries', async () => {
    vi.useFakeTimers();
    const turns = createConcurrencyLimit();
    const never = held();
    const stuck = Array.from({ length: 40 }, () => turns.run(dead, never.work, defer));
    const served = Array.from({ length: 40 }, () => turns.run(alive, async () => 'served', defer));
    await letTimePass();
    await letTimePass();
    expect(await Promise.all(served)).toHaveLength(40);
    expect(turns.inFlight()).toBe(CONCURRENCY.atATime.slow);
    expect(turns.roomForNew(dead)).toBe(0);
    expect(turns.roomForNew(alive)).toBe(CONCURRENCY.newWaiting.fast);
    expect(turns.roomForStored()(alive, 1_000)).toBe(CONCURRENCY.storedWaiting.fast);
    never.end();
    await Promise.all(stuck);
    expect([turns.inFlight(), turns.waiting()]).toEqual([0, 0]);
  });

  test('have equal parts of the slow places when the other is slow too, the other at once', async () => {
    vi.useFakeTimers();
    const turns = createConcurrencyLimit();
    const [never, late] = [held(), held()];
    const running = new Map([dead, alive].map(({ id }) => [id, 0]));
    const runs: Promise<unknown>[] = [];
    const begin = (one: typeof dead, work: () => Promise<void>) => {
      const counted = async () => {
        running.set(one.id, (running.get(one.id) ?? 0) + 1);
        await work();
        running.set(one.id, (running.get(one.id) ?? 0) - 1);
      };
      runs.push(turns.run(one, counted, defer));
    };
    for (let n = 0; n < 12; n++) begin(dead, never.work);
    await letTimePass();
    await letTimePass();
    expect(running.get('dead')).toBe(CONCURRENCY.atATime.slow);
    begin(alive, late.work);
    await letTimePass();
    for (let n = 0; n < 8; n++) begin(alive, late.work);
    await vi.advanceTimersByTimeAsync(0);
    expect(running.get('alive')).toBe(CONCURRENCY.atATime.slow / 2);
    expect(turns.roomForStored()(dead, 100)).toBe(0);
    never.end();
    late.end();
    await Promise.all(runs);
    expect([turns.inFlight(), turns.waiting()]).toEqual([0, 0]);
  });
});

test('a slow hook that answers quickly is again among the quick ones of its host', async () => {
  vi.useFakeTimers();
  const turns = createConcurrencyLimit();
  const slow = held();
  const first = turns.run(hook('a'), slow.work, defer);
  await letTimePass();
  slow.end();
  await first;
  expect(turns.roomForNew(hook('a'))).toBe(0);
  await turns.run(hook('a'), async () => undefined, defer);
  expect(turns.roomForNew(hook('a'))).toBe(CONCURRENCY.newWaiting.unknown);
});

test('queued deliveries of many hooks at one host get the room of one', () => {
  const roomFor = createConcurrencyLimit().roomForStored();
  const rooms = Array.from({ length: 5 }, (_, n) => roomFor(hook(`${n}`, 'workspace', 'host'), 10));
  expect(rooms.reduce((sum, room) => sum + room)).toBe(CONCURRENCY.storedWaiting.unknown);
});
