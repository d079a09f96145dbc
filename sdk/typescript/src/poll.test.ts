import { expect, test } from 'vitest';
import type { Click, ClicksPage } from './generated/types.ts';
import { next, type PollState } from './poll.ts';
import { failure, json, scripted } from './test-support.ts';

/** Deterministic noise: 0 to 1. */
function noise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const instant = (micros: number) => {
  const date = new Date(Math.floor(micros / 1_000)).toISOString();
  return date.replace('Z', `${String(micros % 1_000).padStart(3, '0')}Z`);
};
const clickAt = (micros: number, nth: number) => ({ id: `click-${nth}`, ts: instant(micros) }) as Click;

/** A service whose clicks become visible late and in any order. All before its watermark are visible. */
function service(random: () => number) {
  const hidden: { at: number; click: Click }[] = [];
  const visible: { at: number; click: Click }[] = [];
  let clock = Date.parse('2026-11-20T10:00:00Z') * 1_000;
  let made = 0;
  return {
    step(isLast: boolean): void {
      for (let n = Math.floor(random() * 6); n > 0 && !isLast; n--) {
        clock += Math.floor(random() * 900);
        hidden.push({ at: clock, click: clickAt(clock, made++) });
      }
      for (const one of [...hidden]) {
        if (isLast || random() < 0.3) visible.push(...hidden.splice(hidden.indexOf(one), 1));
      }
    },
    page(since: string, before: string | undefined, limit: number): ClicksPage {
      const all = visible
        .map(({ click }) => ({ click, cursor: `${click.ts} ${click.id}` }))
        .filter(({ click, cursor }) => click.ts >= since && (before === undefined || cursor < before))
        .sort((a, b) => (a.cursor > b.cursor ? -1 : 1));
      const rows = all.slice(0, limit);
      return {
        clicks: rows.map(({ click }) => click),
        next_cursor: all.length > limit ? (rows.at(-1)?.cursor ?? null) : null,
        watermark: instant(Math.min(clock, ...hidden.map(({ at }) => at))),
      };
    },
    get made() {
      return made;
    },
  };
}

test('a poll gets every click once, however late it becomes visible, and whenever the poller is killed', () => {
  let longest = 0;
  for (let seed = 1; seed <= 200; seed++) {
    const random = noise(seed);
    const clicks = service(random);
    const got: string[] = [];
    let stored = JSON.stringify({ since: instant(0), seen: [] } satisfies PollState);
    const poll = (limit: number) => {
      const state = JSON.parse(stored) as PollState;
      const batch = next(state, clicks.page(state.since, state.round?.before, limit));
      // A poller that is killed before it has stored both stores neither.
      if (random() < 0.2) return true;
      got.push(...batch.clicks.map(({ id }) => id));
      stored = JSON.stringify(batch.state);
      longest = Math.max(longest, batch.state.seen.length);
      return batch.state.round !== undefined;
    };
    for (let round = 0; round < 40; round++) {
      clicks.step(false);
      poll(1 + Math.floor(random() * 4));
    }
    clicks.step(true);
    for (let rest = 0; rest < 3; rest++) while (poll(3));
    expect(new Set(got).size, `seed ${seed}: doubles`).toBe(got.length);
    expect(got.length, `seed ${seed}: all`).toBe(clicks.made);
  }
  expect(longest).toBeGreaterThan(3);
});

const page = (ids: string[], next_cursor: string | null = null) =>
  json(200, {
    clicks: ids.map((id) => ({ id, ts: '2026-11-20T10:00:01.000000Z' })),
    next_cursor,
    watermark: '2026-11-20T10:00:00.000000Z',
  });

test('a poll begins at `since`, sends links and filters, and continues from its state', async () => {
  const { hoplog, got } = await scripted([page(['b', 'a'], 'c-1'), page([]), page(['c', 'b', 'a'])]);
  const stored: string[] = [];
  const seen: string[] = [];
  const filter = { country: ['DE', 'AT'] };
  const onState = (state: PollState) => void stored.push(JSON.stringify(state));
  for await (const { id } of hoplog.clicks.poll({
    linkIds: ['l-1', 'l-2'],
    since: '2026-11-20T11:00:00+01:00',
    filter,
    onState,
    intervalMs: 1,
  })) {
    seen.push(id);
    if (seen.length === 3) break;
  }
  expect(seen).toEqual(['a', 'b', 'c']);
  // The last click was not consumed: the loop requested no other one.
  expect(stored).toHaveLength(2);
  expect(got.map(({ url }) => new URL(url, 'http://h').searchParams.toString())).toEqual([
    'country=DE%2CAT&link_ids=l-1%2Cl-2&limit=500&since=2026-11-20T10%3A00%3A00.000000Z',
    'country=DE%2CAT&link_ids=l-1%2Cl-2&limit=500&since=2026-11-20T10%3A00%3A00.000000Z&before=c-1',
    'country=DE%2CAT&link_ids=l-1%2Cl-2&limit=500&since=2026-11-20T10%3A00%3A00.000000Z',
  ]);
  const state = JSON.parse(stored.at(-1) ?? '') as PollState;
  expect(state).toEqual({ since: '2026-11-20T10:00:00.000000Z', seen: ['b', 'a'] });
  const again = [];
  for await (const { id } of hoplog.clicks.poll({ state, filter })) {
    again.push(id);
    break;
  }
  expect(again).toEqual(['c']);
});

test('a poll begins at no time of the zone of this machine', async () => {
  const { hoplog, got } = await scripted([page(['a'])]);
  for (const since of ['2026-11-20T11:00:00', '2026-11-20 11:00:00Z', 'Nov 20 2026', '1', '', '2026-13-01']) {
    expect(() => hoplog.clicks.poll({ since }), since).toThrow(/`since` must be .* with Z or an offset/);
  }
  for await (const _ of hoplog.clicks.poll({ since: '2026-11-20' })) break;
  expect(got[0]?.url).toContain(`since=${encodeURIComponent('2026-11-20T00:00:00.000000Z')}`);
});

test('a poll waits for the end of an outage, and says so', async () => {
  const { hoplog } = await scripted(
    [page([]), failure(503, 'unavailable', { 'retry-after': '0' }), page(['a'])],
    {
      retries: 0,
    },
  );
  const told: Error[] = [];
  for await (const { id } of hoplog.clicks.poll({ intervalMs: 1, onOutage: (error) => told.push(error) })) {
    expect(id).toBe('a');
    break;
  }
  expect(told.map(({ message }) => message)).toEqual(['said unavailable']);
});

test('a poll that never had a response, or may not have one, fails', async () => {
  const down = await scripted([failure(503, 'unavailable', { 'retry-after': '0' })], { retries: 0 });
  await expect(down.hoplog.clicks.poll()[Symbol.asyncIterator]().next()).rejects.toThrow('said unavailable');
  const revoked = await scripted([page([]), failure(401, 'unauthorized')]);
  const poll = revoked.hoplog.clicks.poll({ intervalMs: 1 });
  await expect(poll[Symbol.asyncIterator]().next()).rejects.toThrow('said unauthorized');
});

test('a signal ends a poll', async () => {
  const { hoplog } = await scripted([page([])]);
  const poll = hoplog.clicks.poll({ signal: AbortSignal.timeout(50) });
  await expect(poll[Symbol.asyncIterator]().next()).rejects.toThrow(/abort|timeout/i);
});
