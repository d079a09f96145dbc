import { access, constants, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { type ClickHouseClient, createClickHouse } from '../clickhouse/client.ts';
import { type Config, readConfig } from '../core/settings/config.ts';
import { createPool, type Pool } from '../sql/database/pool.ts';
import { CommandFailed } from './output.ts';
import { directoryId } from './processes/record-file.ts';

const Running = Type.Object({
  databaseUrl: Type.String(),
  clickhouseUrl: Type.String(),
  baseUrl: Type.String(),
  appUrl: Type.Optional(Type.String()), // a start of an older version leaves none
  shortUrl: Type.String(),
  directory: Type.Optional(Type.String()), // as above
});

/** Where the supervisor of a running `npm start` leaves the addresses of its stores (mode 0600). */
export function runFile(dataDir: string): string {
  return join(dataDir, 'run', 'supervisor.json');
}

/**
 * The settings of a command: the environment's, completed by the addresses that a running `npm start` with the
 * same `DATA_DIR` has left. That may have chosen its ports, so the origins are its own, too, where it runs on the
 * stores that the environment names.
 *
 * @throws {CommandFailed} when a store is neither configured nor running, or this user may not read where
 */
export async function operatorConfig(): Promise<Config> {
  const config = readConfig(process.env);
  const running = await runningService(config.dataDir);
  const isNamed = (named: string, own: string) => named === '' || named === own;
  if (
    running &&
    isNamed(config.databaseUrl, running.databaseUrl) &&
    isNamed(config.clickhouseUrl, running.clickhouseUrl)
  ) {
    return { ...config, ...running };
  }
  if (config.databaseUrl && config.clickhouseUrl) return config;
  if (await isBarred(runFile(config.dataDir))) {
    throw new CommandFailed(
      `this user may not read DATA_DIR=${config.dataDir}: run the command as the user who runs "npm start", or set DATABASE_URL and CLICKHOUSE_URL`,
    );
  }
  throw new CommandFailed(
    `no running service in DATA_DIR=${config.dataDir}: run "npm start" first, or set DATABASE_URL and CLICKHOUSE_URL`,
  );
}

type Addresses = Required<Omit<Static<typeof Running>, 'directory'>>;

/** In a copy of a DATA_DIR the file names the stores of the original, which are not this one's. */
async function runningService(dataDir: string): Promise<Addresses | null> {
  const path = runFile(dataDir);
  const text = await readFile(path, 'utf8').catch(() => '');
  if (text.trim() === '') return null;
  const running = Value.Parse(Running, JSON.parse(text));
  const { databaseUrl, clickhouseUrl, baseUrl, appUrl, shortUrl, directory } = running;
  if (directory !== undefined && directory !== directoryId(dirname(path))) return null;
  return { databaseUrl, clickhouseUrl, baseUrl, appUrl: appUrl ?? baseUrl, shortUrl };
}

/** What another user runs is no reason to start it once more. */
async function isBarred(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => false,
    ({ code }: NodeJS.ErrnoException) => code === 'EACCES',
  );
}

/** An operator waits longer than a request may: erasing touches every part of a table. */
const CLICKHOUSE_MS = 600_000;

export type Stores = { config: Config; pool: Pool; clickhouse: ClickHouseClient };

/** Runs a command with both stores open and closes them after it. */
export async function withStores<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
  const config = await operatorConfig();
  const pool = createPool(config.databaseUrl, { max: 4, name: 'hoplog-cli' });
  const clickhouse = createClickHouse({
    url: config.clickhouseUrl,
    database: config.clickhouseDatabase,
    timeoutMs: CLICKHOUSE_MS,
  });
  try {
    return await work({ config, pool, clickhouse });
  } finally {
    await Promise.all([pool.end(), clickhouse.close()]);
  }
}
