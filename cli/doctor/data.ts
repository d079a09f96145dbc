import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { EpochFile } from '../../core/event-log/journal/epoch-file.ts';
import { journalDirectory } from '../../core/event-log/journal/segments.ts';
import type { Config } from '../../core/settings/config.ts';
import { connectionTroubles } from '../../sql/connections/connection-troubles.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import { listBackups, timeOf } from '../backup/manifest.ts';
import { assertWritable, openTarget } from '../backup/target.ts';
import { describeTrouble } from '../connection-troubles.ts';
import { MOST_AHEAD_SECONDS } from '../status.ts';
import { checkClickHouse } from './clickhouse.ts';
import { type Finding, findingsOf } from './finding.ts';
import { checkPooler } from './pooler.ts';
import { checkPools } from './pools.ts';
import { checkServerClock } from './server-clock.ts';

const TIMEOUT_MS = 3_000;
const OLDEST_BACKUP_HOURS = 48;

/** Checks that no journal is ahead of this machine's clock. Needs no running service. */
export function checkJournalClock({ dataDir }: Pick<Config, 'dataDir'>): Finding[] {
  const { ok, error } = findingsOf('clock');
  const root = journalDirectory(dataDir);
  let names: string[];
  try {
    names = readdirSync(root);
  } catch {
    return [];
  }
  const ahead = names.flatMap((name) => {
    const seconds = (lastTimeOf(join(root, name)) / 1_000 - Date.now()) / 1_000;
    return seconds > MOST_AHEAD_SECONDS ? [`${name} by ${Math.round(seconds)} s`] : [];
  });
  if (ahead.length === 0) return [ok("no journal is ahead of this machine's clock")];
  return [
    error(
      `journals are ahead of this machine's clock (${new Date().toISOString()}): ${ahead.join(', ')}`,
      'set the clock, start the service, then run: npx hoplog stream reset-clock',
    ),
  ];
}

/** Returns the time of the newest event of a start, in microseconds; 0 when unknown. */
function lastTimeOf(directory: string): number {
  try {
    const file = new EpochFile(directory);
    file.close();
    return file.record?.lastTs ?? 0;
  } catch {
    return 0;
  }
}

/** Checks both databases of a running service, and their clocks. */
export async function checkDatabases(config: Config): Promise<Finding[]> {
  const pool = createPool(config.databaseUrl, {
    max: 1,
    connectTimeoutMs: TIMEOUT_MS,
    statementTimeoutMs: TIMEOUT_MS,
  });
  try {
    const now = async () => {
      const { rows } = await pool.query<{ now: number }>(
        'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
      );
      return rows[0]?.now ?? 0;
    };
    const [postgres, store, role, connections, pooler, pools] = await Promise.all([
      checkServerClock('PostgreSQL', now),
      checkClickHouse(pool, config, TIMEOUT_MS),
      checkRole(pool),
      checkConnections(pool),
      checkPooler(config),
      checkPools(pool, config),
    ]);
    return [postgres, ...store, role, ...connections, ...pooler, ...pools];
  } finally {
    await pool.end();
  }
}

/** Checks that the tiers' role of PostgreSQL may not change append-only tables. */
async function checkRole(pool: Pool): Promise<Finding> {
  const { ok, warning } = findingsOf('rights');
  const { rows } = await pool
    .query<{ name: string; is_owner: boolean }>(
      `SELECT current_user AS name, pg_has_role(current_user, relowner, 'MEMBER') AS is_owner
       FROM pg_class WHERE oid = 'ledger_entries'::regclass`,
    )
    .catch(() => ({ rows: [] })); // the check of the clock reports that it is down
  const [role] = rows;
  if (!role?.is_owner) return ok("the tiers' role of PostgreSQL does not own the tables");
  return warning(
    `ingest, workers, and API connect to PostgreSQL as ${role.name}, which owns the tables: it can change the ledger and the audit log`,
    'set DATABASE_OWNER_URL to this role and DATABASE_URL to a new one, then run: npx hoplog migrate',
  );
}

/** Maximum number of connections in a finding. */
const NAMED_CONNECTIONS = 20;

/** Checks that connected billing providers send events, and that these are processed. */
async function checkConnections(pool: Pool): Promise<Finding[]> {
  const { ok, warning } = findingsOf('connections');
  const { connected, troubles } = await connectionTroubles(pool, NAMED_CONNECTIONS).catch(() => ({
    connected: 0, // the check of the clock reports that PostgreSQL is down
    troubles: [],
  }));
  if (connected === 0) return [];
  if (troubles.length === 0) return [ok(`${connected} billing providers are connected and send events`)];
  return troubles.map((trouble) => {
    const { message, fix } = describeTrouble(trouble);
    return warning(message, fix);
  });
}

/** Checks that backups are made, that there is space for more, and the age of the newest one. */
export async function checkBackups(config: Config): Promise<Finding[]> {
  const { ok, warning, error } = findingsOf('backups');
  const command = 'npx hoplog backup --keep 14, and the same each night from cron';
  if (config.backupTo === '') {
    return [warning('BACKUP_TO is empty: no backups are known', `set BACKUP_TO, then run: ${command}`)];
  }
  let newest: string | undefined;
  let isRead = false;
  try {
    const target = openTarget(undefined, config);
    newest = (await listBackups(target)).at(-1);
    isRead = true;
    if (newest !== undefined) await assertWritable(target);
  } catch (cause) {
    return [
      error(
        `cannot ${isRead ? 'write to' : 'read'} BACKUP_TO=${config.backupTo}: ${(cause as Error).message}`,
        'correct BACKUP_TO, its permissions, or the AWS settings, then run: npx hoplog doctor',
      ),
    ];
  }
  if (newest === undefined) return [error(`BACKUP_TO=${config.backupTo} has no complete backup`, command)];
  const hours = Math.floor((Date.now() - timeOf(newest).getTime()) / 3_600_000);
  const text = `the newest backup is ${hours} hours old`;
  return [hours > OLDEST_BACKUP_HOURS ? error(text, command) : ok(text)];
}
