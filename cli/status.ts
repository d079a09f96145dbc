import { adviceOn } from '../core/databases/advice.ts';
import type { Config } from '../core/settings/config.ts';
import { directGet } from '../core/tier/direct-get.ts';
import type { LossBody, StoreStates } from '../core/tier/health.ts';
import { connectionTroubles } from '../sql/connections/connection-troubles.ts';
import { createPool, type Pool } from '../sql/database/pool.ts';
import { liveWorkers } from '../sql/event-log/live-workers.ts';
import { type Progress, readProgress } from '../sql/event-log/progress.ts';
import { troubledReplicas } from '../sql/event-log/replica-details.ts';
import { describeDifferences } from '../workers/counts/differences.ts';
import { clickhouseStatus } from './clickhouse-status.ts';
import { describeTrouble } from './connection-troubles.ts';
import { diskStatus } from './disk-status.ts';
import type { OperatorConfig } from './stores.ts';

const TIMEOUT_MS = 3_000;

/** `isWarning`: the part works, but needs attention soon. */
export type PartStatus = { ok: boolean; isWarning?: boolean; detail: string };

export type Status = {
  /**
   * Always redirects, api, workers, postgres, clickhouse; `disk` if `DATA_DIR` is on this machine; `clock` while
   * PostgreSQL is up; `kafka` if configured; `connections` if billing providers are connected; `counts` if
   * ClickHouse has other clicks than the log had; `replicas` if one of several is not read or behind.
   */
  parts: Record<string, PartStatus>;
  /** Null while PostgreSQL is down. */
  progress: StatusProgress | null;
};

export type StatusProgress = Omit<Progress, 'streams'> & {
  /** ISO 8601; every older click is visible. Null before the first stream. */
  watermark: string | null;
  /**
   * `ordinal` distinguishes streams of one name, as after a volume was replaced. `ahead_seconds` is relative to this
   * machine's clock.
   */
  streams: {
    name: string;
    ordinal: number;
    state: string;
    visible_before: string;
    lag_seconds: number;
    ahead_seconds: number;
  }[];
};

/** A stream further ahead of this machine's clock is a fault. Seconds. */
export const MOST_AHEAD_SECONDS = 5;

/** Returns the health of every part, each checked within three seconds, and the lag of every stream. */
export async function readStatus(config: OperatorConfig): Promise<Status> {
  const pool = createPool(config.databaseUrl, {
    max: 1,
    connectTimeoutMs: TIMEOUT_MS,
    statementTimeoutMs: TIMEOUT_MS,
  });
  let progress: StatusProgress | null = null;
  try {
    const [serving, workers, postgres, store, kafka, disk, connections, counts, replicas] = await Promise.all(
      [
        servingStatus(config),
        part(() => workersAlive(pool)),
        part(async () => {
          progress = withLag(await readProgress(pool), Date.now());
          return 'reachable';
        }),
        clickhouseStatus(config, TIMEOUT_MS, part),
        config.kafkaBrokers.length === 0 ? null : part(() => reachableBrokers(config)),
        diskStatus(config.dataDir),
        // When PostgreSQL is down, its own check reports it.
        connectionsStatus(pool).catch(() => null),
        countsStatus(pool).catch(() => null),
        replicasStatus(pool).catch(() => null),
      ],
    );
    const read = progress as StatusProgress | null; // The compiler does not see the assignment in the closure.
    const clock = read && clockStatus(read);
    const parts = {
      ...serving,
      workers,
      postgres,
      clickhouse: store,
      ...(kafka && { kafka }),
      ...(disk && { disk: { ok: true, isWarning: disk.isLow, detail: disk.detail } }),
      ...(clock && { clock }),
      ...(connections && { connections }),
      ...(counts && { counts }),
      ...(replicas && { replicas }),
    };
    return { parts, progress };
  } finally {
    await pool.end();
  }
}

/** Returns whether redirects and API are ready, and lose no clicks. */
export async function servingStatus(
  config: OperatorConfig,
): Promise<Record<'redirects' | 'api', PartStatus>> {
  const [redirects, api] = await Promise.all([
    part(() => health(config.shortUrl, config.health?.ingest)),
    part(() => health(config.baseUrl, config.health?.api)),
  ]);
  return { redirects, api };
}

/** A stream ahead of the clock assigns wrong times, and reports omit its events until those times pass. */
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
  return {
    ok: true,
    detail: corrections === 0 ? 'streams match the clock' : `${corrections} corrections in progress`,
  };
}

/** Null: no billing provider is connected. */
async function connectionsStatus(pool: Pool): Promise<PartStatus | null> {
  const { connected, troubles } = await connectionTroubles(pool, NAMED);
  if (connected === 0) return null;
  const detail = troubles.map((trouble) => describeTrouble(trouble).message).join('; ');
  return { ok: true, isWarning: troubles.length > 0, detail: detail || `${connected} receive events` };
}

/** Null: every replica of ClickHouse is read, or there is one. */
async function replicasStatus(pool: Pool): Promise<PartStatus | null> {
  const troubled = await troubledReplicas(pool);
  if (troubled.length === 0) return null;
  const named = troubled.map(({ name, state, behind_seconds: seconds }) =>
    state === 'behind' ? `${name} is ${seconds} s behind` : `${name}: ${state}`,
  );
  return { ok: true, isWarning: true, detail: `${named.join(', ')}; see docs/operations/replicas.md` };
}

/** Null: no hour differs. */
async function countsStatus(pool: Pool): Promise<PartStatus | null> {
  const differences = await describeDifferences(pool);
  if (differences.length === 0) return null;
  const named = differences
    .slice(0, NAMED)
    .map(
      ({ replica, stream, hour, counted, stored }) =>
        `${stream} at ${hour} has ${stored} of ${counted} in ${replica}`,
    );
  const more = differences.length > NAMED ? ` and ${differences.length - NAMED} more` : '';
  const detail = `clicks differ from the log: ${named.join(', ')}${more}; see docs/operations/counts.md`;
  return { ok: true, isWarning: true, detail };
}

/** Maximum number of connections, or hours, in the message. */
const NAMED = 5;

async function part(check: () => Promise<string>): Promise<PartStatus> {
  try {
    return { ok: true, detail: await check() };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
    const advice = adviceOn(error);
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, detail: `${advice === null ? '' : `${advice.message}: `}${message}${cause}` };
  }
}

/** @param details address of the same response with details, if known */
async function health(origin: string, details: string | undefined): Promise<string> {
  const { status, body } = await directGet(`${origin}/health/ready`, TIMEOUT_MS);
  if (status !== 200) throw new Error(`${origin}/health/ready returned status ${status}`);
  if (parsed(body).status !== 'degraded') return `ready at ${origin}`;
  const { losing, stores } = details === undefined ? {} : parsed((await directGet(details, TIMEOUT_MS)).body);
  if (losing) throw new Error(`${describeLoss(losing)} at ${origin}`);
  // ClickHouse is reported separately.
  if (stores?.clickhouse === 'down') return `ready without ClickHouse at ${origin}`;
  throw new Error(`degraded at ${origin} (/health/ready on its metrics port says why)`);
}

/** Returns the body of a health response; empty for the response of another program. */
function parsed(body: string): LossBody & { status?: string; stores?: StoreStates } {
  try {
    return JSON.parse(body);
  } catch {
    return {};
  }
}

function describeLoss({ reason, since, events }: NonNullable<LossBody['losing']>): string {
  return `loses clicks since ${since.slice(0, 16)}Z: ${reason} (${events.toLocaleString('en')})`;
}

/** Counts workers with a heartbeat in the last three seconds. */
async function workersAlive(pool: Pool): Promise<string> {
  const { live, until } = await liveWorkers(pool);
  if (live === 0)
    throw new Error(
      `no worker is alive${until ? `; the last heartbeat expired at ${until.toISOString()}` : ''}`,
    );
  return `${live} alive`;
}

async function reachableBrokers({ kafkaBrokers: brokers, kafka }: Config): Promise<string> {
  // Loaded on demand: the client is slow to load, and most deployments have no Kafka.
  const { countBrokers } = await import('../core/event-log/kafka/brokers.ts');
  const count = await countBrokers({ brokers, kafka }, TIMEOUT_MS);
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
