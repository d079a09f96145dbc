import { createClickHouse } from '../clickhouse/client.ts';
import { type DamagedPart, damagedParts, describeDamage } from '../clickhouse/damaged-parts.ts';
import type { Config } from '../core/settings/config.ts';
import { directStatus } from '../core/tier/direct-get.ts';
import { createPool, type Pool } from '../sql/database/pool.ts';
import { liveWorkers } from '../sql/event-log/live-workers.ts';
import { type Progress, readProgress } from '../sql/event-log/progress.ts';

const PATIENCE_MS = 3_000;

export type PartStatus = { ok: boolean; detail: string };

export type Status = {
  /** `redirects`, `api`, `workers`, `postgres`, `clickhouse`, `clock` while PostgreSQL answers, and `kafka` where there is one. */
  parts: Record<string, PartStatus>;
  /** Null while PostgreSQL is down. */
  progress: StatusProgress | null;
};

export type StatusProgress = Omit<Progress, 'streams'> & {
  /** ISO 8601: every click older than it is visible. Null before the first stream. */
  watermark: string | null;
  /** `ordinal` tells streams of one name apart, such as of a volume that was replaced. `ahead_seconds`: of this machine's clock. */
  streams: {
    name: string;
    ordinal: number;
    state: string;
    visible_before: string;
    lag_seconds: number;
    ahead_seconds: number;
  }[];
};

/** A stream whose time is further ahead of this machine's clock is a fault. Seconds. */
export const MOST_AHEAD_SECONDS = 5;

/** Asks every part for its health, each for at most three seconds, and PostgreSQL for the lag of every stream. */
export async function readStatus(config: Config): Promise<Status> {
  const pool = createPool(config.databaseUrl, {
    max: 1,
    connectTimeoutMs: PATIENCE_MS,
    statementTimeoutMs: PATIENCE_MS,
  });
  const clickhouse = createClickHouse({
    url: config.clickhouseUrl,
    database: config.clickhouseDatabase,
    timeoutMs: PATIENCE_MS,
  });
  let progress: StatusProgress | null = null;
  try {
    const [redirects, api, workers, postgres, store, kafka] = await Promise.all([
      part(() => health(config.shortUrl)),
      part(() => health(config.baseUrl)),
      part(() => workersAlive(pool)),
      part(async () => {
        progress = withLag(await readProgress(pool), Date.now());
        return 'answers';
      }),
      part(async () => {
        const answer = await clickhouse.query({
          query: 'SELECT version() AS version',
          format: 'JSONEachRow',
        });
        const [row] = await answer.json<{ version: string }>();
        assertWhole(await damagedParts(clickhouse));
        return `version ${row?.version ?? 'unknown'}`;
      }),
      config.kafkaBrokers.length === 0 ? null : part(() => brokersThere(config)),
    ]);
    const read = progress as StatusProgress | null; // set in a closure, which the compiler does not see
    const clock = read && clockStatus(read);
    const parts = {
      redirects,
      api,
      workers,
      postgres,
      clickhouse: store,
      ...(kafka && { kafka }),
      ...(clock && { clock }),
    };
    return { parts, progress };
  } finally {
    await Promise.all([pool.end(), clickhouse.close()]);
  }
}

/** Events of a stream that is ahead get times that are wrong, and are in no report until these have come. */
function clockStatus({ streams, clock_corrections: corrections }: StatusProgress): PartStatus {
  const ahead = streams.filter(
    ({ state, ahead_seconds: seconds }) => state === 'active' && seconds > MOST_AHEAD_SECONDS,
  );
  if (ahead.length > 0) {
    const named = ahead
      .map(({ name, ahead_seconds: seconds }) => `${name} by ${Math.round(seconds)} s`)
      .join(', ');
    return {
      ok: false,
      detail: `streams are ahead of this machine's clock: ${named}; set the clock, then run "hoplog stream reset-clock"`,
    };
  }
  return { ok: true, detail: corrections === 0 ? 'streams agree' : `${corrections} corrections under way` };
}

/** Damaged parts that are named; the rest is counted. */
const NAMED = 5;

function assertWhole(damaged: DamagedPart[]): void {
  if (damaged.length === 0) return;
  const named = damaged.slice(0, NAMED).map(describeDamage).join(', ');
  const more = damaged.length > NAMED ? ` and ${damaged.length - NAMED} more` : '';
  throw new Error(
    `damaged parts, whose rows may be missing: ${named}${more}; see docs/operations/damaged-data.md`,
  );
}

async function part(ask: () => Promise<string>): Promise<PartStatus> {
  try {
    return { ok: true, detail: await ask() };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
    return { ok: false, detail: `${error instanceof Error ? error.message : String(error)}${cause}` };
  }
}

async function health(origin: string): Promise<string> {
  const status = await directStatus(`${origin}/health/ready`, PATIENCE_MS);
  if (status !== 200) throw new Error(`${origin}/health/ready answers ${status}`);
  return `ready at ${origin}`;
}

/** A worker that stands still has not said for two seconds that it lives, and counts no more. */
async function workersAlive(pool: Pool): Promise<string> {
  const { live, until } = await liveWorkers(pool);
  if (live === 0)
    throw new Error(`none lives${until ? `, the last one did until ${until.toISOString()}` : ''}`);
  return live === 1 ? '1 lives' : `${live} live`;
}

async function brokersThere({ kafkaBrokers: brokers, kafka }: Config): Promise<string> {
  // The client takes longer to load than all else here, and most deployments have no Kafka.
  const { countBrokers } = await import('../core/event-log/kafka/brokers.ts');
  const count = await countBrokers({ brokers, kafka }, PATIENCE_MS);
  return count === 1 ? '1 broker' : `${count} brokers`;
}

function withLag(progress: Progress, nowMillis: number): StatusProgress {
  const active = progress.streams.filter((stream) => stream.state === 'active');
  const watermark = active.length === 0 ? null : Math.min(...active.map((stream) => stream.visible_before));
  return {
    ...progress,
    watermark: watermark === null ? null : isoMicros(watermark),
    streams: progress.streams.map(({ name, ordinal, state, visible_before }) => ({
      name,
      ordinal,
      state,
      visible_before: isoMicros(visible_before),
      lag_seconds: Math.max(0, nowMillis - visible_before / 1_000) / 1_000,
      ahead_seconds: Math.max(0, visible_before / 1_000 - nowMillis) / 1_000,
    })),
  };
}

function isoMicros(micros: number): string {
  const fraction = String(micros % 1_000_000).padStart(6, '0');
  return new Date(Math.floor(micros / 1_000)).toISOString().replace(/\.\d{3}Z$/, `.${fraction}Z`);
}
