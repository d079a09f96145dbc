import { access, constants, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ClickHouseClient } from '../clickhouse/client.ts';
import { openReplicas, type Replica } from '../clickhouse/replicas.ts';
import { type Config, readConfig } from '../core/settings/config.ts';
import { MAIN_REPLICA, type ReplicaSettings } from '../core/settings/replicas.ts';
import { createLogger, type Logger } from '../core/tier/log.ts';
import { createPool, type Pool } from '../sql/database/pool.ts';
import { CommandFailed } from './output.ts';
import { directoryId } from './processes/record-file.ts';

const ADDRESSES = [
  'databaseUrl',
  'databaseOwnerUrl',
  'clickhouseUrl',
  'baseUrl',
  'appUrl',
  'shortUrl',
] as const;

type Addresses = Record<(typeof ADDRESSES)[number], string> & {
  /** Addresses of the details of readiness, on the metrics ports. */
  health: { ingest: string; api: string };
};

/** Returns the path of the file in which a running `npm start` stores its database addresses (mode 0600). */
export function runFile(dataDir: string): string {
  return join(dataDir, 'run', 'supervisor.json');
}

/** `health` is known only beside a running `npm start`. */
export type OperatorConfig = Config & Partial<Pick<Addresses, 'health'>>;

/**
 * Returns the settings of a command: the environment, completed with the addresses of a running `npm start` with the
 * same `DATA_DIR`. If both use the same databases, the origins of `npm start` win, because it may choose its ports.
 *
 * @throws {CommandFailed} when a database is neither configured nor running, or its address file is unreadable
 */
export async function operatorConfig(): Promise<OperatorConfig> {
  const config = readConfig(process.env);
  const running = await runningService(config.dataDir);
  const isNamed = (named: string, own: string) => named === '' || named === own;
  if (
    running &&
    isNamed(config.databaseUrl, running.databaseUrl) &&
    isNamed(config.clickhouseUrl, running.clickhouseUrl)
  ) {
    return { ...config, ...running, databaseDirectUrl: config.databaseDirectUrl || running.databaseUrl };
  }
  if (config.databaseUrl && config.clickhouseUrl) return config;
  if (await isUnreadable(runFile(config.dataDir))) {
    throw new CommandFailed(
      `this user cannot read DATA_DIR=${config.dataDir}: run the command as the user who runs "npm start", or set DATABASE_URL and CLICKHOUSE_URL`,
    );
  }
  throw new CommandFailed(
    `no running service in DATA_DIR=${config.dataDir}: run "npm start" first, or set DATABASE_URL and CLICKHOUSE_URL`,
  );
}

/**
 * Returns the addresses of a running service. Null in a copy of a DATA_DIR, whose file has the addresses of the
 * original.
 */
async function runningService(dataDir: string): Promise<Addresses | null> {
  const path = runFile(dataDir);
  const text = await readFile(path, 'utf8').catch(() => '');
  if (text.trim() === '') return null;
  const running: unknown = JSON.parse(text);
  if (!isRunFile(running)) throw new CommandFailed(`${path} is not valid: restart "npm start"`);
  const { databaseUrl, databaseOwnerUrl, clickhouseUrl, baseUrl, appUrl, shortUrl, health, directory } =
    running;
  if (directory !== directoryId(dirname(path))) return null;
  return { databaseUrl, databaseOwnerUrl, clickhouseUrl, baseUrl, appUrl, shortUrl, health };
}

function isRunFile(stored: unknown): stored is Addresses & { directory: string } {
  const { health, directory, ...rest } = (stored ?? {}) as Partial<Addresses & { directory: string }>;
  const texts = [...ADDRESSES.map((name) => rest[name]), directory, health?.ingest, health?.api];
  return texts.every((text) => typeof text === 'string');
}

/** Detects a file of another user, whose service may be running. */
async function isUnreadable(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => false,
    ({ code }: NodeJS.ErrnoException) => code === 'EACCES',
  );
}

/** Returns the replicas of ClickHouse. Beside `npm start`, the address of `main` is that of the running service. */
export function addressesOfReplicas(config: Config): ReplicaSettings[] {
  return config.clickhouseReplicas.map(({ name, url }) => ({
    name,
    url: name === MAIN_REPLICA ? config.clickhouseUrl : url,
  }));
}

/** Longer than for a request, because an erasure changes every part of a table. */
const CLICKHOUSE_MS = 600_000;

export type Stores = {
  config: Config;
  pool: Pool;
  /** The first replica. */
  clickhouse: ClickHouseClient;
  replicas: readonly [Replica, ...Replica[]];
  log: Logger;
};

/**
 * Runs a command with both databases open, and closes them afterwards.
 *
 * @param clickhouseMs longest silence of a ClickHouse server
 */
export async function withStores<T>(
  work: (stores: Stores) => Promise<T>,
  clickhouseMs = CLICKHOUSE_MS,
): Promise<T> {
  const config = await operatorConfig();
  const pool = createPool(config.databaseUrl, { max: 4, name: 'hoplog-cli' });
  const replicas = openReplicas(addressesOfReplicas(config), config.clickhouseDatabase, clickhouseMs);
  const [{ clickhouse }] = replicas;
  const log = createLogger('hoplog', config.logLevel);
  try {
    return await work({ config, pool, clickhouse, replicas, log });
  } finally {
    await Promise.all([pool.end(), ...replicas.map((replica) => replica.clickhouse.close())]);
  }
}
