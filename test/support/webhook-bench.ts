import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { createEnricher } from '../../core/enrich/enrich.ts';
import { emptyGeo } from '../../core/enrich/geo.ts';
import { JournalReader } from '../../core/event-log/journal/reader.ts';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import { uuidv7 } from '../../core/ids.ts';
import { readConfig } from '../../core/settings/config.ts';
import { silentLogger } from '../../core/tier/log.ts';
import type { Tracing } from '../../core/tier/tracing.ts';
import { registerStream } from '../../sql/event-log/streams.ts';
import { queueEvents } from '../../sql/webhooks/outbox.ts';
import { click } from '../../workers/test-support/events.ts';
import { createLogWriter, type LogWriter } from '../../workers/test-support/log-writer.ts';
import { PATIENCE_MS } from '../../workers/test-support/patience.ts';
import { QUEUED } from '../../workers/webhooks/queued-deliveries.ts';
import type { WebhookOptions } from '../../workers/webhooks/webhooks.ts';
import { createWorkers, type Workers } from '../../workers/workers.ts';
import { type TestApi, type TestWorkspace, testApi } from './api.ts';
import { temporaryDataDir } from './journal.ts';
import { startReceiver } from './receiver.ts';
import { until } from './until.ts';

export type Hook = { id: string; secret: string; is_active: boolean };
export type LoggedDelivery = {
  id: string;
  event_id: string;
  type: string;
  status: string;
  attempts: number;
  response_status: number | null;
  response_body: string | null;
  error: string | null;
  next_attempt_at: string | null;
  created_at: string;
  delivered_at: string | null;
};

/** The API, workers and a journal with the test's own events, for tests of webhooks. */
export type WebhookBench = {
  api: TestApi;
  dataDir: string;
  addressKey: Buffer;
  stream: LogWriter;
  registry(): Registry;
  /** Milliseconds by which the workers' clock is ahead. */
  ahead: number;
  /** The time of the workers, milliseconds since the epoch. */
  now(): number;
  /**
   * Stops the clock of the workers until {@link rest}. It then moves only with `ahead`, so no retry becomes due while a
   * test waits. It stops ahead of the API's clock, whose new deliveries are due at once for {@link STOPPED_AHEAD_MS}.
   */
  stopClock(): void;
  /** Origin of the stand-in for Stripe. */
  stripeApiBase: string;
  work(options?: Partial<WebhookOptions>): Workers;
  hook(workspace: TestWorkspace, url: string, events: string[], more?: object): Promise<Hook>;
  /** Writes one or several clicks of people with the present time. Returns the ids of their visitors. */
  clicks(workspace: TestWorkspace, count?: number): string[];
  /** Adds an event to the outbox, as a transaction does. */
  credit(workspace: TestWorkspace, data?: Record<string, unknown>): Promise<void>;
  log(workspace: TestWorkspace, hook: Hook, query?: string): Promise<LoggedDelivery[]>;
  /** Returns the hook's newest delivery, once it matches. */
  untilDelivery(
    workspace: TestWorkspace,
    hook: Hook,
    isSo: (delivery: LoggedDelivery) => boolean,
  ): Promise<LoggedDelivery>;
  /**
   * Waits until no delivery is left: the workers are at the end of the log, the outbox is empty, and no delivery is due
   * or under way. A delivery that has not arrived by then does not arrive.
   */
  settled(): Promise<void>;
  /**
   * Delivers a click and another event of a new workspace. Afterwards the workers have read the log and the outbox up
   * to now, and have claimed each delivery that was due.
   */
  passBy(): Promise<void>;
  /** Stops the workers, and resets and starts their clock, for the next test on the same bench. */
  rest(): Promise<void>;
  close(): Promise<void>;
};

/** Less than the five minutes within which receivers accept a signature. */
const STOPPED_AHEAD_MS = 200_000;

export async function createWebhookBench({ tracing }: { tracing?: Tracing } = {}): Promise<WebhookBench> {
  const traced = tracing && { tracing };
  const api = await testApi((deps) => ({
    ...traced,
    config: { ...readConfig({ WEBHOOK_ALLOW_PRIVATE: 'true' }), shortUrl: deps.config.shortUrl },
  }));
  const { pool, clickhouse } = api.stores;
  const disk = temporaryDataDir();
  const addressKey = randomBytes(32);
  const sealer = createAddressSealer(addressKey);
  const stream = createLogWriter(disk.dataDir, 'ingest-0', await registerStream(pool, 'ingest-0'), sealer);
  const reader = new JournalReader(disk.dataDir);
  const running = new Set<Workers>();
  let registry = new Registry();
  let lastTs = 0;
  let stoppedAt: number | null = null;

  const bench: WebhookBench = {
    api,
    dataDir: disk.dataDir,
    addressKey,
    stream,
    registry: () => registry,
    ahead: 0,
    now: () => (stoppedAt ?? Date.now()) + bench.ahead,
    stopClock() {
      stoppedAt = Date.now() + STOPPED_AHEAD_MS;
    },
    stripeApiBase: 'http://127.0.0.1:9',
    work(options = {}) {
      registry = new Registry();
      const workers = createWorkers({
        pool,
        clickhouse,
        reader,
        decode: (batch) => decodeEvents(batch, sealer),
        enricher: createEnricher({ geo: emptyGeo() }),
        log: silentLogger(),
        registry,
        patienceMs: PATIENCE_MS,
        ...traced,
        webhooks: {
          allowPrivate: true,
          shortUrl: 'https://hop.example',
          stripeApiBase: bench.stripeApiBase,
          now: () => bench.now(),
          ...options,
        },
      });
      running.add(workers);
      return {
        stop(drainMs) {
          running.delete(workers);
          return workers.stop(drainMs);
        },
      };
    },
    async hook(workspace, url, events, more = {}) {
      const { status, body } = await workspace.post<Hook>('/webhooks', { url, events, ...more });
      if (status !== 201) throw new Error(`POST /webhooks returned ${status}: ${JSON.stringify(body)}`);
      return body;
    },
    clicks(workspace, count = 1) {
      const link = uuidv7();
      const made = Array.from({ length: count }, () => {
        lastTs = Math.max(lastTs + 1, Date.now() * 1_000);
        return click({ workspace: workspace.workspace.id, link, visitor: uuidv7(), ts: lastTs });
      });
      stream.append(made);
      return made.map((event) => Buffer.from(event.visitorId).toString('hex'));
    },
    async credit(workspace, data = { id: 1 }) {
      await queueEvents(pool, workspace.workspace.id, [{ type: 'credit.earned', data }]);
    },
    async log(workspace, hook, query = '') {
      const path = `/webhooks/${hook.id}/deliveries${query}`;
      return (await workspace.get<{ deliveries: LoggedDelivery[] }>(path)).body.deliveries;
    },
    async untilDelivery(workspace, hook, isSo) {
      return await until(
        'the newest delivery in the awaited state',
        async () => (await bench.log(workspace, hook))[0],
        (newest): newest is LoggedDelivery => newest !== undefined && isSo(newest),
      );
    },
    async settled() {
      const left = async () => {
        const { rows } = await pool.query<{ left: number }>(
          `SELECT (SELECT count(*) FROM webhook_outbox)::int
             + (SELECT count(*) FROM webhook_deliveries
                WHERE status = 'pending' AND next_attempt_at <= to_timestamp($1::float8 / 1000))::int
             + (SELECT count(*) FROM log_lanes WHERE consumer = 'webhooks' AND next_offset < $2)::int AS left`,
          // The next attempt of a claimed delivery is due at the end of its lease.
          [bench.now() + QUEUED.leaseMs, String(stream.end())],
        );
        return rows[0]?.left;
      };
      await until('nothing left to deliver', left, (count) => count === 0);
    },
    async passBy() {
      const other = await api.addWorkspace();
      const receiver = await startReceiver();
      const hook = await bench.hook(other, receiver.url, ['click.created', 'credit.earned']);
      bench.clicks(other);
      await bench.credit(other);
      const delivered = async () =>
        (await bench.log(other, hook)).filter((one) => one.status === 'delivered').length;
      await until('both deliveries', delivered, (count) => count === 2);
      await receiver.close();
    },
    async rest() {
      await Promise.all([...running].map((workers) => workers.stop(0)));
      running.clear();
      bench.ahead = 0;
      stoppedAt = null;
    },
    async close() {
      await bench.rest();
      await reader.close();
      await api.close();
      disk.remove();
    },
  };
  return bench;
}
