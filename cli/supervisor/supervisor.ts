import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Config, readConfig } from '../../core/settings/config.ts';
import type { Logger } from '../../core/tier/log.ts';
import { createRegistry, serveMetrics } from '../../core/tier/metrics.ts';
import { createPool } from '../../sql/database/pool.ts';
import { startEmbeddedClickHouse } from '../embedded/clickhouse.ts';
import { makeDataDir } from '../embedded/data-dir.ts';
import { startEmbeddedPostgres } from '../embedded/postgres.ts';
import { childMetrics } from './child-metrics.ts';
import type { DemoWorkspace } from './first-start.ts';
import { type KeptStore, keepStore } from './kept-store.ts';
import { type Lock, takeLock } from './lock.ts';
import { patiently } from './patiently.ts';
import { settlePorts } from './ports.ts';
import { prepareStores } from './prepare.ts';
import { childRecords, endLeftovers } from './records.ts';
import { removeRunFile, writeRunFile } from './run-file.ts';
import { keepTier, type Tier } from './tier.ts';
import { type TierName, tierSpecs } from './tiers.ts';
import { unshownDemo } from './unshown-demo.ts';

/** How long redirects wait for stores that do not answer, before they start from what is on disk. */
const STORE_PATIENCE_MS = 5_000;

export type SupervisorOptions = {
  env: NodeJS.ProcessEnv;
  log: Logger;
  /** Called with each step of the start that takes a while. */
  onProgress: (step: string) => void;
};

export type Started = {
  config: Config;
  /** Its keys; on the first start that gets so far only. */
  demo: DemoWorkspace | null;
  /** To be called when they are printed. A start that ends before that leaves them to the next one. */
  onShown(): void;
};

export type Supervisor = {
  /** Resolves when redirects, workers and API are ready. Rejects when they can't be brought up. */
  start(): Promise<Started>;
  /** Ends everything in order, whatever has been started so far. */
  stop(): Promise<void>;
  /** Ends the children at once. */
  kill(): void;
};

/**
 * Runs the whole service on this machine: stores (unless their addresses are configured), migrations, and
 * the three tiers as child processes. What dies is started again.
 */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { env, log, onProgress } = options;
  const stopping = new AbortController();
  const stores: KeptStore[] = [];
  const tiers: Partial<Record<TierName, Tier>> = {};
  let lock: Lock | undefined;
  let closeMetrics: (() => Promise<void>) | undefined;
  let running: Config | undefined;
  let starting: Promise<Started> | undefined;

  const start = async (): Promise<Started> => {
    const given = readConfig(env);
    const runDirectory = join(given.dataDir, 'run');
    makeDataDir(given.dataDir);
    mkdirSync(runDirectory, { recursive: true, mode: 0o700 });
    lock = await takeLock(runDirectory);
    await endLeftovers(runDirectory, log);
    const ports = await settlePorts(given);
    const registry = createRegistry('supervisor');
    const { onChange, states } = childMetrics(registry);
    let isStarted = false;
    closeMetrics = await serveMetrics(registry, given.host, ports.metrics.supervisor, async () => {
      const children = states();
      const up = isStarted && Object.values(children).every((state) => state === 'up');
      const ready = up && !stopping.signal.aborted;
      const status = stopping.signal.aborted
        ? 'stopping'
        : ready
          ? 'ready'
          : isStarted
            ? 'unready'
            : 'starting';
      return { ready, body: { status, children } };
    });

    const urls = await startStores(given, onChange);
    const config = readConfig({
      ...env,
      API_PORT: String(ports.api),
      INGEST_PORT: String(ports.ingest),
      DATABASE_URL: urls.databaseUrl,
      CLICKHOUSE_URL: urls.clickhouseUrl,
    });
    running = config;
    writeRunFile(config);

    onProgress('applying migrations');
    const prepared = patiently(() => prepareStores(config, log), log, stopping.signal);
    // Awaited below, unless the start is given up before.
    prepared.catch(() => {});
    await Promise.race([prepared, delay(STORE_PATIENCE_MS, undefined, { ref: false })]);
    stopping.signal.throwIfAborted();

    const specs = tierSpecs(env, config, ports);
    const records = childRecords(runDirectory);
    const launch = (name: TierName) => {
      tiers[name] = keepTier(specs[name], { log, records, onChange });
      return tiers[name].ready;
    };
    onProgress('starting redirects');
    const ingestReady = launch('ingest');
    await prepared;
    stopping.signal.throwIfAborted();
    onProgress('starting workers and API');
    await Promise.all([ingestReady, launch('workers'), launch('api')]);
    stopping.signal.throwIfAborted();
    // Last of all: a start that fails must not have made keys that nobody has seen.
    const keptDemo = join(runDirectory, 'demo.json');
    const demo = await patiently(() => demoToShow(config, keptDemo), log, stopping.signal);
    isStarted = true;
    return { config, demo, onShown: () => rmSync(keptDemo, { force: true }) };
  };

  const demoToShow = async (config: Config, path: string) => {
    const pool = createPool(config.databaseUrl, { max: 1, name: 'hoplog-start' });
    try {
      return await unshownDemo(pool, { path, appUrl: config.appUrl });
    } finally {
      await pool.end();
    }
  };

  const startStores = async (config: Config, onChange: (name: string, up: boolean) => void) => {
    const { dataDir } = config;
    const keep = async (name: string, ...[begin]: [Parameters<typeof keepStore>[1]]) => {
      const store = await keepStore(name, begin, { log, onChange });
      stores.push(store);
      return store.url;
    };
    if (!config.databaseUrl || !config.clickhouseUrl) onProgress('starting the embedded stores');
    const outcomes = await Promise.allSettled([
      config.databaseUrl ||
        keep('postgres', (port) =>
          startEmbeddedPostgres({ dataDir, log, onProgress, ...(port && { port }) }),
        ),
      config.clickhouseUrl ||
        keep('clickhouse', (port) => startEmbeddedClickHouse({ dataDir, log, ...(port && { port }) })),
    ]);
    stopping.signal.throwIfAborted();
    const [databaseUrl, clickhouseUrl] = outcomes.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    });
    return { databaseUrl: databaseUrl ?? '', clickhouseUrl: clickhouseUrl ?? '' };
  };

  return {
    start() {
      starting = start();
      return starting;
    },
    async stop() {
      stopping.abort(new Error('asked to stop'));
      lock?.markStopping();
      // Where a start is under way, let its present step end, so that what it starts is known here.
      await Promise.race([
        starting?.catch(() => {}),
        delay(tiers.ingest ? 0 : 5_000, undefined, { ref: false }),
      ]);
      // First who lets events in, so that the workers then bring all that was answered into the stores.
      await Promise.all([tiers.ingest?.stop(), tiers.api?.stop()]);
      await tiers.workers?.stop();
      await Promise.all(stores.map((store) => store.stop()));
      await closeMetrics?.();
      if (running) removeRunFile(running);
      lock?.release();
    },
    kill() {
      for (const tier of Object.values(tiers)) tier.kill();
    },
  };
}
