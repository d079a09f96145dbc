import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Config, readConfig } from '../../core/settings/config.ts';
import { withDatabaseUrls } from '../../core/settings/secrets.ts';
import type { Readiness } from '../../core/tier/health.ts';
import type { Logger } from '../../core/tier/log.ts';
import { createRegistry, serveMetrics } from '../../core/tier/metrics.ts';
import { createPool } from '../../sql/database/pool.ts';
import { assertRestored, removeUnfinished } from '../backup/restored.ts';
import { makeDataDir, makeOwnDirectory } from '../embedded/data-dir.ts';
import { childMetrics } from './child-metrics.ts';
import { demoKeysToPrint } from './demo-keys.ts';
import type { DemoWorkspace } from './first-start.ts';
import { logHourly } from './hourly.ts';
import { hasLinksOnDisk } from './links-on-disk.ts';
import { type Lock, takeLock } from './lock.ts';
import { settlePorts } from './ports.ts';
import { preparePostgres, prepareStores } from './prepare.ts';
import { childRecords, endLeftovers } from './records.ts';
import { retryUntilReady } from './retry-until-ready.ts';
import { clearRunFile, writeRunFile } from './run-file.ts';
import { type StoreName, settleStores } from './stores.ts';
import type { SupervisedStore } from './supervised-store.ts';
import { superviseTier, type Tier } from './tier.ts';
import { originsOf, type TierName, tierSpecs } from './tiers.ts';

/** Time that redirects wait for unreachable databases, before they start from the links on disk. */
const STORE_PATIENCE_MS = 5_000;

export type SupervisorOptions = {
  env: NodeJS.ProcessEnv;
  log: Logger;
  /** Called with a description of each slow step of the start. */
  onProgress: (step: string) => void;
};

export type Started = {
  config: Config;
  /** Keys of the demo workspace, on the first successful start only. */
  demo: DemoWorkspace | null;
  /** Must be called after the keys are printed; otherwise the next start prints them. */
  onShown(): void;
};

export type Supervisor = {
  /**
   * Resolves when redirects and API are ready, and workers too unless ClickHouse is down. Rejects when the start fails.
   * With links on disk from an earlier start, it retries a database that does not start.
   */
  start(): Promise<Started>;
  /** Stops everything started so far, in order. */
  stop(): Promise<void>;
  /** Kills the children and the embedded databases. */
  kill(): void;
};

/**
 * Creates a supervisor, which runs the service on this machine: embedded databases (unless configured), migrations, and
 * the three tiers as child processes. It restarts children that exit.
 */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { env, log, onProgress } = options;
  const stopping = new AbortController();
  const tiers: Partial<Record<TierName, Tier>> = {};
  let stores: Partial<Record<StoreName, SupervisedStore>> = {};
  let lock: Lock | undefined;
  let closeMetrics: (() => Promise<void>) | undefined;
  let running: Config | undefined;
  let endHourly = () => {};
  let starting: Promise<Started> | undefined;

  const start = async (): Promise<Started> => {
    const given = readConfig(env);
    const runDirectory = join(given.dataDir, 'run');
    makeDataDir(given.dataDir);
    makeOwnDirectory(given.dataDir, runDirectory);
    lock = await takeLock(runDirectory);
    assertRestored(given.dataDir);
    attempt(log, 'removing what an interrupted backup left', () => removeUnfinished(given.dataDir));
    await endLeftovers(runDirectory, log);
    const ports = await settlePorts(given);
    const registry = createRegistry('supervisor');
    const children = childMetrics(registry);
    let isStarted = false;
    closeMetrics = await serveMetrics(registry, given.metricsHost, ports.metrics.supervisor, async () =>
      readinessOf(children.states(), { isStarted, isStopping: stopping.signal.aborted }),
    );

    const { addresses, keep } = await settleStores(given, { log, onProgress });
    const config = readConfig({
      ...withDatabaseUrls(env, { ...addresses, databaseReadUrl: given.databaseReadUrl }),
      API_PORT: String(ports.api),
      INGEST_PORT: String(ports.ingest),
    });
    running = config;
    attempt(log, 'writing the addresses for hoplog commands', () => writeRunFile(config, ports));
    stopping.signal.throwIfAborted();
    stores = keep({ log, onChange: children.onChange });
    for (const name of [...Object.keys(stores), 'ingest', 'workers', 'api']) children.expect(name);

    const persist = hasLinksOnDisk(config);
    const up = { postgres: stores.postgres?.firstStart, clickhouse: stores.clickhouse?.firstStart };
    const allUp = Promise.all([up.postgres, up.clickhouse]);
    // Without links on disk there is nothing to redirect, so the start fails with the database.
    if (!persist) await allUp;

    onProgress('applying migrations');
    const retried = (step: () => Promise<void>) =>
      retryUntilReady(step, { log, stopping: stopping.signal, persist });
    const settled = (store: Promise<void> | undefined) => store?.catch(() => {});
    const postgresReady = Promise.resolve(settled(up.postgres)).then(() =>
      retried(() => preparePostgres(config)),
    );
    let isPrepared = false;
    const prepared = Promise.all([postgresReady, settled(up.clickhouse)])
      .then(() => retried(() => prepareStores(config, log)))
      .then(() => {
        isPrepared = true;
      });
    // Prevents unhandled rejections if the start fails before it awaits them.
    for (const step of [postgresReady, prepared]) step.catch(() => {});
    const storeFailed = allUp.then(
      () => new Promise<void>(() => {}),
      () => {},
    );
    const patienceEnds = Promise.race([
      storeFailed,
      delay(STORE_PATIENCE_MS, undefined, { ref: false, signal: stopping.signal }).catch(() => {}),
    ]);
    await Promise.race([prepared, patienceEnds]);
    stopping.signal.throwIfAborted();

    const specs = tierSpecs(env, config, ports);
    const records = childRecords(runDirectory, log);
    const launch = (name: TierName) => {
      stopping.signal.throwIfAborted();
      const isPersistent = persist && name !== 'ingest';
      tiers[name] = superviseTier(specs[name], { log, records, onChange: children.onChange, isPersistent });
      return tiers[name].ready;
    };
    onProgress('starting redirects');
    const ingestReady = launch('ingest');
    await postgresReady;
    await Promise.race([prepared, patienceEnds]);
    onProgress('starting workers and API');
    const apiReady = launch('api');
    // Hazard: without the newest ClickHouse migration, workers could treat valid events as malformed.
    const workersReady = prepared.then(() => launch('workers'));
    // Not always awaited; errors are logged.
    workersReady.catch(() => {});
    await Promise.all([ingestReady, apiReady, isPrepared && workersReady]);
    stopping.signal.throwIfAborted();
    // Runs last, because a failed start must not create keys that it never prints.
    const keptDemo = join(runDirectory, 'demo.json');
    const demo = await retryUntilReady(() => demoToShow(config, keptDemo), {
      log,
      stopping: stopping.signal,
      persist,
    });
    isStarted = true;
    const origin = originsOf(config.metricsHost, 0).at(-1) ?? '';
    const metricsOf = (port: number) => origin.replace(/:0$/, `:${port}/metrics`);
    endHourly = logHourly({
      dataDir: config.dataDir,
      ingestMetrics: metricsOf(ports.metrics.ingest),
      workerMetrics: metricsOf(ports.metrics.workers),
      log,
    });
    if (!isPrepared)
      log.warn('ClickHouse is down; clicks wait in the journal and reports fail until it is up');
    return { config, demo, onShown: () => rmSync(keptDemo, { force: true }) };
  };

  const demoToShow = async (config: Config, path: string) => {
    const pool = createPool(config.databaseUrl, { max: 1, name: 'hoplog-start' });
    try {
      return await demoKeysToPrint(pool, { path, appUrl: config.appUrl });
    } finally {
      await pool.end();
    }
  };

  return {
    start() {
      starting = start();
      return starting;
    },
    async stop() {
      stopping.abort(new Error('stopped by request'));
      lock?.markStopping();
      endHourly();
      // Wait for the current step of a start, so that every process that it starts is known.
      await Promise.race([
        starting?.catch(() => {}),
        delay(tiers.ingest ? 0 : 5_000, undefined, { ref: false }),
      ]);
      // Stop the tiers that accept events first, so that the workers store all accepted events.
      const order = [[tiers.ingest, tiers.api], [tiers.workers], Object.values(stores)];
      const outcomes: PromiseSettledResult<void>[] = [];
      for (const parts of order) {
        outcomes.push(...(await Promise.allSettled(parts.map((part) => part?.stop()))));
      }
      this.kill();
      await closeMetrics?.();
      const config = running;
      if (config) attempt(log, 'clearing the addresses for hoplog commands', () => clearRunFile(config));
      lock?.release();
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    },
    kill() {
      for (const part of [...Object.values(tiers), ...Object.values(stores)]) part.kill();
    },
  };
}

/** Runs an optional step, and logs its failure, as on a full or read-only disk. */
function attempt(log: Logger, what: string, step: () => void): void {
  try {
    step();
  } catch (error) {
    log.warn({ err: error }, `${what} failed; continuing`);
  }
}

function readinessOf(
  children: Record<string, 'up' | 'down'>,
  { isStarted, isStopping }: { isStarted: boolean; isStopping: boolean },
): Readiness {
  const up = isStarted && Object.values(children).every((state) => state === 'up');
  const status = isStopping ? 'stopping' : up ? 'ready' : isStarted ? 'unready' : 'starting';
  return { ready: up && !isStopping, body: { status, children } };
}
