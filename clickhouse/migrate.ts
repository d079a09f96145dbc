import { readdir, readFile } from 'node:fs/promises';
import type { ClickHouseClient } from './client.ts';

const FOLDER = new URL('./migrations/', import.meta.url);

export type MigrateOptions = {
  database: string;
  /** The directory URL of the migrations; by default those of this release. */
  folder?: URL;
};

/**
 * Applies the numbered migrations that ClickHouse lacks, and returns their names in order. ClickHouse has no
 * transactions: every statement must be safe to run twice (`IF NOT EXISTS`).
 *
 * @param client connected to any database of the server
 */
export async function migrate(client: ClickHouseClient, options: MigrateOptions): Promise<string[]> {
  const { database } = options;
  const server = (query: string) => client.command({ query });
  // chDB's default engine is an overlay that can't hold tables.
  await server(`CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic`);
  await server(
    `CREATE TABLE IF NOT EXISTS ${database}.migrations (name String, applied_at DateTime DEFAULT now())
     ENGINE = MergeTree ORDER BY name`,
  );
  const done = new Set(await appliedMigrations(client, database));
  const applied: string[] = [];
  for (const { name, statements } of await readMigrations(options)) {
    if (done.has(name)) continue;
    for (const statement of statements) await server(statement);
    await client.insert({ table: `${database}.migrations`, values: [{ name }], format: 'JSONEachRow' });
    applied.push(name);
  }
  return applied;
}

/** Returns the names of this release's migrations that ClickHouse lacks, in order. */
export async function pendingMigrations(
  client: ClickHouseClient,
  options: MigrateOptions,
): Promise<string[]> {
  const done = await appliedMigrations(client, options.database);
  return (await readMigrations(options)).map(({ name }) => name).filter((name) => !done.includes(name));
}

/** Returns the names of migrations that a later release has applied. */
export async function migrationsOfLater(
  client: ClickHouseClient,
  options: MigrateOptions,
): Promise<string[]> {
  const known = new Set((await readMigrations(options)).map(({ name }) => name));
  return (await appliedMigrations(client, options.database)).filter((name) => !known.has(name));
}

async function appliedMigrations(client: ClickHouseClient, database: string): Promise<string[]> {
  const result = await client.query({
    query: `SELECT DISTINCT name FROM ${database}.migrations ORDER BY name`,
    format: 'JSONEachRow',
  });
  return (await result.json<{ name: string }>()).map((row) => row.name);
}

/** Reads the numbered migrations in order, each as the statements for this database. */
export async function readMigrations(
  options: MigrateOptions,
): Promise<{ name: string; statements: string[] }[]> {
  const folder = options.folder ?? FOLDER;
  const names = (await readdir(folder)).filter((file) => /^\d{4}_\w+\.sql$/.test(file)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), 'utf8');
      return { name, statements: statements(text.replaceAll('{{database}}', options.database)) };
    }),
  );
}

function statements(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--'))
    .join('\n')
    .split(/;\s*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
