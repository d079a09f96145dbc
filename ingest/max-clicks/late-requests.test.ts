import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../../core/tier/log.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import { registerStream } from '../../sql/event-log/streams.ts';
import { makeLink, makeWorkspace } from '../../test/support/ingest.ts';
import { testSealer } from '../../test/support/journal.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { until } from '../../test/support/until.ts';
import { type Outstanding, readOutstanding } from './outstanding.ts';
import { createPermits, type Permits } from './permits.ts';

/** PostgreSQL finishes a request whose sender has died or lost the connection. */

const LIMIT = 160;
const STALLED = 'hoplog-stalled';
const STALL_LOCK = 4_711;
/** Longer than a test holds a request up. Milliseconds. */
const STATEMENT_MS = 60_000;

let stores: TestStores;
let workspaceId: string;
const runs: Run[] = [];

beforeAll(async () => {
  stores = await testStores();
  workspaceId = (await makeWorkspace(stores.pool)).id;
  // Simulates a slow disk: a grant or return of the stalled process commits while the test does not hold the lock.
  await stores.admin.query(`
    CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF current_setting('application_name') = '${STALLED}' AND OLD.granted IS DISTINCT FROM NEW.granted THEN
        PERFORM pg_advisory_xact_lock_shared(${STALL_LOCK});
      END IF;
      RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER stalled AFTER INSERT OR UPDATE ON link_leases DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION stall();`);
});
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});
afterAll(() => stores?.close());

/** The permits of one process. */
type Run = {
  streamId: string;
  permits: Permits;
  /** Name of its connections in PostgreSQL. */
  name: string;
  /** Whether it makes no request now. */
  isIdle(): boolean;
  /** Breaks its connections; PostgreSQL notices when it responds. */
  cut(): void;
  /** Simulates `kill -9`. */
  kill(): void;
  end(): Promise<void>;
};

function startRun(streamId: string, outstanding: Outstanding, name = 'hoplog-ingest'): Run {
  const pool = createPool(stores.databaseUrl, { max: 3, statementTimeoutMs: STATEMENT_MS, name });
  const sockets = new Set<Socket>();
  pool.on('connect', (client) => {
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    sockets.add(stream);
    stream.once('close', () => sockets.delete(stream));
  });
  let dead = false;
  const alive = <T>(ask: () => Promise<T>) => (dead ? Promise.reject(new Error('killed')) : ask());
  const mortal = {
    query: (...asked: Parameters<Pool['query']>) => alive(async () => pool.query(...asked)),
    connect: () => alive(() => pool.connect()),
  } as unknown as Pool;
  const permits = createPermits({ pool: mortal, streamId, log: silentLogger() });
  permits.start(outstanding);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const kill = () => {
    dead = true;
    cut();
  };
  const end = async () => {
    await permits.close();
    await pool.end();
  };
  const isIdle = () => pool.waitingCount === 0 && pool.idleCount === pool.totalCount;
  const run: Run = { streamId, permits, name, isIdle, cut, kill, end };
  runs.push(run);
  return run;
}

/** Restarts a stream whose journal workers have stored completely. */
async function restarted(streamId: string): Promise<Run> {
  async function* batchesAfter() {}
  const outstanding = await readOutstanding({
    pool: stores.pool,
    streamId,
    batchesAfter,
    truncatedAhead: () => -1n,
    sealer: testSealer,
  });
  return startRun(streamId, outstanding);
}

async function visitor(run: Run, linkId: string): Promise<string> {
  const taken = run.permits.take(linkId, LIMIT);
  return taken === 'wait' ? run.permits.request(linkId) : taken;
}

/** Admits visitors until the link is spent or `most` were admitted. Returns how many were. */
async function admitVisitors(run: Run, linkId: string, most = Number.POSITIVE_INFINITY): Promise<number> {
  let taken = 0;
  while (taken < most) {
    const outcome = await visitor(run, linkId);
    if (outcome === 'spent') break;
    if (outcome === 'taken') taken += 1;
    else await sleep(10);
  }
  return taken;
}

/**
 * Admits visitors to this run and to another stream, and counts their use, until the link is spent for both.
 */
async function admitTheRest(run: Run, linkId: string, before: number): Promise<number> {
  const { streamId } = await registerStream(stores.pool, `ingest-other ${linkId}`);
  const streams = [
    { run, through: before },
    { run: startRun(streamId, []), through: 0 },
  ];
  const all = () => streams.reduce((sum, { through }) => sum + through, 0);
  for (let over = false; !over && all() <= LIMIT; ) {
    over = true;
    await Promise.all(
      streams.map(async (stream) => {
        const outcome = await visitor(stream.run, linkId);
        if (outcome !== 'spent') over = false;
        if (outcome === 'taken') stream.through += 1;
        else await countUsed(linkId, stream.run.streamId, stream.through);
      }),
    );
  }
  return all();
}

async function limitedLink(name: string): Promise<{ linkId: string; streamId: string }> {
  const { id } = await makeLink(stores.pool, workspaceId, 'https://example.com/', { max_clicks: LIMIT });
  const { streamId } = await registerStream(stores.pool, name);
  return { linkId: id, streamId };
}

const grantedOf = async (linkId: string) => {
  const { rows } = await stores.pool.query<{ granted: number }>(
    'SELECT granted FROM link_leases WHERE link_id = $1',
    [linkId],
  );
  return rows[0]?.granted;
};

const countUsed = (linkId: string, streamId: string, used: number) =>
  stores.pool.query('UPDATE link_leases SET used = $3 WHERE link_id = $1 AND stream_id = $2', [
    linkId,
    streamId,
    used,
  ]);

/** Locks what `statement` locks in another transaction. @returns a function that commits it */
async function hold(statement: string, values: unknown[]): Promise<() => Promise<void>> {
  const client = await stores.pool.connect();
  await client.query('BEGIN');
  await client.query(statement, values);
  return async () => {
    await client.query('COMMIT');
    client.release();
  };
}
const holdLease = (linkId: string) =>
  hold('SELECT 1 FROM link_leases WHERE link_id = $1 FOR UPDATE', [linkId]);
const stallCommits = () => hold('SELECT pg_advisory_xact_lock($1)', [STALL_LOCK]);

/**
 * Returns the ids of PostgreSQL's processes whose query is like this and waits for a lock, of one program or of all.
 */
async function waiting(name: string | null, query = '%'): Promise<number[]> {
  const { rows } = await stores.pool.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND ($1::text IS NULL OR application_name = $1)
       AND wait_event_type = 'Lock' AND query LIKE $2`,
    [name, query],
  );
  return rows.map(({ pid }) => pid);
}

/** Waits until one request of a process waits for a lock. Returns the id of PostgreSQL's process that serves it. */
async function held(name: string, query?: string): Promise<number> {
  const [pid = 0] = await until(
    'one held request',
    () => waiting(name, query),
    (pids) => pids.length === 1,
  );
  return pid;
}

/** Waits until another query waits behind the held one. */
const isFollowed = (pid: number) =>
  until(
    'a query behind the held one',
    () => waiting(null),
    (pids) => pids.some((other) => other !== pid),
  );

type Held = { through: number; pid: number; letGo: () => Promise<void> };

/**
 * Admits at least `most` visitors, and waits until `delay` holds the return of the permits that they left.
 *
 * @param isCounted whether workers have counted the use
 * @returns how many were admitted, PostgreSQL's process, and a function that lets the return go
 */
async function heldReturn(
  run: Run,
  linkId: string,
  { most, delay, isCounted = false }: { most: number; delay: typeof holdLease; isCounted?: boolean },
): Promise<Held> {
  for (let through = 0; ; ) {
    through += await admitVisitors(run, linkId, Math.max(1, most - through));
    if (isCounted) await countUsed(linkId, run.streamId, through);
    await expect.poll(run.isIdle).toBe(true);
    const letGo = await delay(linkId);
    if (((await grantedOf(linkId)) ?? 0) > through) {
      const pid = await held(run.name, 'UPDATE link_leases SET granted = granted - %');
      return { through, pid, letGo };
    }
    // No permit was left, or an idle second passed and all went back before.
    await letGo();
  }
}

const waysToBeLate: [string, (linkId: string) => Promise<() => Promise<void>>][] = [
  ['waits for its lease', holdLease],
  ['stalls in its commit', stallCommits],
];

test.each(waysToBeLate)(
  'a return that %s while its process is killed never exceeds the limit, and all permits are used',
  async (way, delay) => {
    const { linkId, streamId } = await limitedLink(`ingest-killed ${way}`);
    const killed = startRun(streamId, [], STALLED);
    const { through, pid, letGo } = await heldReturn(killed, linkId, { most: 100, delay, isCounted: true });
    killed.kill();
    const next = await restarted(streamId);
    const all = admitTheRest(next, linkId, through);
    await isFollowed(pid);
    await letGo();
    expect(await all).toBe(LIMIT);
  },
);

test.each(waysToBeLate)(
  'a return that %s while its connection breaks never exceeds the limit, and all permits are used',
  async (way, delay) => {
    const { linkId, streamId } = await limitedLink(`ingest-cut ${way}`);
    const run = startRun(streamId, [], STALLED);
    const { through, pid, letGo } = await heldReturn(run, linkId, { most: 100, delay });
    run.cut();
    const all = admitTheRest(run, linkId, through);
    await isFollowed(pid);
    await letGo();
    expect(await all).toBe(LIMIT);
  },
);

test('a return whose connection broke is repeated without a visitor', async () => {
  const { linkId, streamId } = await limitedLink('ingest-unvisited');
  const run = startRun(streamId, []);
  const { through, pid, letGo } = await heldReturn(run, linkId, { most: 3, delay: holdLease });
  // PostgreSQL rolls it back: nothing was returned.
  await stores.pool.query('SELECT pg_terminate_backend($1)', [pid]);
  await expect
    .poll(
      async () => (await stores.pool.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid])).rowCount,
    )
    .toBe(0);
  expect(await grantedOf(linkId)).toBeGreaterThan(through);
  await letGo();
  await expect.poll(() => grantedOf(linkId)).toBe(through);
});

test.each([0, 3])(
  'a lease that is granted late, after %i permits, is found by the next run',
  async (spent) => {
    const { linkId, streamId } = await limitedLink(`ingest-granted ${spent}`);
    if (spent > 0) {
      await stores.pool.query(
        'INSERT INTO link_leases (link_id, stream_id, granted, used) VALUES ($1, $2, $3, $3)',
        [linkId, streamId, spent],
      );
    }
    const letGo = await stallCommits();
    const killed = startRun(streamId, [], STALLED);
    void visitor(killed, linkId);
    const pid = await held(STALLED);
    killed.kill();
    const next = await restarted(streamId);
    const after = admitVisitors(next, linkId);
    await isFollowed(pid);
    await letGo();
    expect(spent + (await after)).toBe(LIMIT);
  },
);

/** Runs of one stream that are killed and cut off at any moment. Returns how many visitors they admitted. */
async function playRuns({ linkId, streamId }: { linkId: string; streamId: string }): Promise<number> {
  let run = startRun(streamId, []);
  let through = await admitVisitors(run, linkId, 60);
  let over = false;
  const holding = (async () => {
    while (!over) {
      const letGo = await holdLease(linkId);
      await sleep(Math.random() * 20);
      await letGo();
      await sleep(Math.random() * 20);
    }
  })();
  try {
    for (let round = 0; round < 12; round++) {
      through += await admitVisitors(run, linkId, Math.floor(Math.random() * 6));
      // A visitor requests a permit during a return, and the connections break.
      if (Math.random() < 0.5) {
        run.permits.take(linkId, LIMIT + 1);
        const asked = visitor(run, linkId);
        await sleep(Math.random() * 15);
        run.cut();
        if ((await asked) === 'taken') through += 1;
      }
      if (Math.random() < 0.5) {
        void run.permits.close();
        await sleep(Math.random() * 15);
        run.kill();
        run = startRun(streamId, [{ linkId, spent: through }]);
      }
    }
  } finally {
    over = true;
    await holding;
  }
  return admitTheRest(run, linkId, through);
}

test('many runs, killed and cut off at any moment, admit exactly max_clicks visitors', async () => {
  const links = await Promise.all(
    Array.from({ length: 8 }, (_, chain) => limitedLink(`ingest-chain ${chain}`)),
  );
  // All end before the test does, also when one fails.
  const admitted = await Promise.allSettled(links.map(playRuns));
  expect(admitted).toEqual(links.map(() => ({ status: 'fulfilled', value: LIMIT })));
});
