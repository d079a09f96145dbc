import { type ClickHouseClient, createClickHouse } from '../../clickhouse/client.ts';
import { damagedParts, describeDamage } from '../../clickhouse/damaged-parts.ts';
import { migrationsOfLater, pendingMigrations } from '../../clickhouse/migrate.ts';
import type { Config } from '../../core/settings/config.ts';
import { settingsOfReplica } from '../../core/settings/replicas.ts';
import type { Pool } from '../../sql/database/pool.ts';
import {
  type ReplicaDetails,
  type ReplicaSituation,
  replicaDetails,
  situationOf,
} from '../../sql/event-log/replica-details.ts';
import { describeVolume } from '../disk-status.ts';
import { addressesOfReplicas } from '../stores.ts';
import { type Finding, findingsOf } from './finding.ts';
import { checkServerClock } from './server-clock.ts';

const MIB = 2 ** 20;
/** Below this, ClickHouse will soon refuse writes. */
const CRITICAL_BYTES = 256 * MIB;
/** Maximum number of damaged parts in a finding. */
const NAMED = 5;

type Server = { name: string; label: string; clickhouse: ClickHouseClient };
/** `version` is null when the server does not respond. */
type Examined = { name: string; version: string | null; findings: Finding[] };

/**
 * Checks every replica of ClickHouse: whether it responds, its clock, version, schema, disk, damage, and what keeps it
 * from being read.
 */
export async function checkClickHouse(pool: Pool, config: Config, timeoutMs: number): Promise<Finding[]> {
  const addresses = addressesOfReplicas(config);
  const servers = addresses.map(({ name, url }) => ({
    name,
    label: addresses.length > 1 ? `ClickHouse ${name}` : 'ClickHouse',
    clickhouse: createClickHouse({ url, database: config.clickhouseDatabase, timeoutMs }),
  }));
  try {
    // When PostgreSQL is down, the check of its clock reports it.
    const added = await replicaDetails(pool).catch(() => null);
    const all = await Promise.all(
      servers.map((server) => examineServer(server, config.clickhouseDatabase, added)),
    );
    const isReadable = all.some(({ version }) => version !== null);
    return [
      ...all.flatMap(({ findings }) => findings.map((finding) => asWarning(finding, isReadable))),
      ...differentVersions(all),
      ...(added ? unnamed(added, addresses) : []),
    ];
  } finally {
    await Promise.all(servers.map(({ clickhouse }) => clickhouse.close()));
  }
}

/** A replica that does not respond is a warning while another one does: that one is read. */
const asWarning = (finding: Finding, isReadable: boolean): Finding =>
  finding.check === 'databases' && finding.severity === 'error' && isReadable
    ? { ...finding, severity: 'warning' }
    : finding;

async function examineServer(
  server: Server,
  database: string,
  added: readonly ReplicaDetails[] | null,
): Promise<Examined> {
  const { name, label, clickhouse } = server;
  const own = settingsOfReplica(name);
  const clock = await checkServerClock(
    label,
    async () => Number((await rowsOf<{ now: string }>(clickhouse, NOW))[0]?.now ?? 0),
    (message, fix) =>
      findingsOf('databases').error(
        message,
        fix.replaceAll('CLICKHOUSE_URL', own.url).replaceAll('CLICKHOUSE_PASSWORD', own.password),
      ),
  );
  const states = added ? stateOf(server, added) : [];
  if (clock.check === 'databases') return { name, version: null, findings: [clock, ...states] };
  const [found] = await rowsOf<{ version: string }>(clickhouse, 'SELECT version() AS version');
  const isAdded = added === null || added.some((one) => one.name === name);
  const parts = await Promise.all([
    checkDisks(server),
    ...(isAdded ? [checkSchema(server, database), checkDamage(server)] : []),
  ]);
  return { name, version: found?.version ?? 'unknown', findings: [clock, ...parts.flat(), ...states] };
}

const NOW = 'SELECT toUnixTimestamp64Milli(now64(3)) AS now';

async function checkSchema({ label, clickhouse }: Server, database: string): Promise<Finding[]> {
  const { ok, warning, error } = findingsOf('schema');
  const pending = await pendingMigrations(clickhouse, { database }).catch((cause: Error) => cause);
  if (pending instanceof Error)
    return [error(`${label} has no tables in ${database}: ${pending.message}`, 'npx hoplog migrate')];
  if (pending.length > 0)
    return [error(`${label} lacks the migrations ${pending.join(', ')}`, 'npx hoplog migrate')];
  const later = await migrationsOfLater(clickhouse, { database });
  if (later.length === 0) return [ok(`${label} has all migrations`)];
  return [
    warning(
      `${label} was migrated by a later release: ${later.join(', ')}`,
      'run the later release of Hoplog, or restore an earlier backup',
    ),
  ];
}

async function checkDisks({ label, clickhouse }: Server): Promise<Finding[]> {
  const { ok, warning, error } = findingsOf('disk');
  // Managed services may not show their disks.
  const disks = await rowsOf<{ name: string; free: number; total: number }>(
    clickhouse,
    `SELECT name, toFloat64(unreserved_space) AS free, toFloat64(total_space) AS total FROM system.disks
     WHERE type = 'Local'`,
  ).catch(() => []);
  return disks.map(({ name, free, total }) => {
    const volume = { bsize: 1, blocks: total, bavail: free, files: 0, ffree: 0 };
    const { isLow, detail } = describeVolume(volume);
    const message = `disk ${name} of ${label}: ${detail}`;
    const fix = `make room on the volume of ${label}; docs/operations/retention.md lists what grows`;
    if (free < CRITICAL_BYTES) return error(message, fix);
    return isLow ? warning(message, fix) : ok(message);
  });
}

async function checkDamage({ label, clickhouse }: Server): Promise<Finding[]> {
  const { ok, error } = findingsOf('damage');
  const damaged = await damagedParts(clickhouse);
  if (damaged.length === 0) return [ok(`${label} has no damaged parts`)];
  const named = damaged.slice(0, NAMED).map(describeDamage).join(', ');
  const more = damaged.length > NAMED ? ` and ${damaged.length - NAMED} more` : '';
  return [
    error(
      `${label} has damaged parts, whose rows may be missing: ${named}${more}`,
      'docs/operations/damaged-data.md brings them back',
    ),
  ];
}

/** What to do in each situation; NAME is the replica. */
const FIXES: Record<Exclude<ReplicaSituation, 'read'>, string> = {
  behind: 'see why its server is slow: it catches up from the event log',
  repairing: 'wait: workers repair what it missed, and log what fails',
  filling: 'npx hoplog replica fill NAME',
  'not used': 'npx hoplog replica use NAME',
  lost: 'npx hoplog replica drop NAME; then empty its server, add, and fill it (docs/operations/replicas.md)',
};

function stateOf({ name, label }: Server, added: readonly ReplicaDetails[]): Finding[] {
  const { ok, warning } = findingsOf('replicas');
  const details = added.find((one) => one.name === name);
  if (!details)
    return [
      warning(
        `${name} is in CLICKHOUSE_REPLICAS and was not added: it is neither written nor read`,
        `npx hoplog replica add ${name}`,
      ),
    ];
  if (added.length === 1) return [];
  const situation = situationOf(details);
  const lag = `${details.behindSeconds.toFixed(1)} s behind the event log`;
  if (situation === 'read') return [ok(`${label} is read, ${lag}`)];
  return [warning(`${label}: ${situation}, ${lag}`, FIXES[situation].replace('NAME', name))];
}

function differentVersions(all: readonly Examined[]): Finding[] {
  const known = all.flatMap(({ name, version }) => (version === null ? [] : [{ name, version }]));
  const { ok, warning } = findingsOf('version');
  const named = known.map(({ name, version }) => `${name} ${version}`).join(', ');
  if (known.length === 0) return [];
  if (new Set(known.map(({ version }) => version)).size === 1)
    return [ok(`ClickHouse is version ${known[0]?.version}`)];
  return [
    warning(
      `the replicas of ClickHouse have different versions: ${named}`,
      'upgrade the older ones (docs/operations/replicas.md)',
    ),
  ];
}

function unnamed(added: readonly ReplicaDetails[], named: readonly { name: string }[]): Finding[] {
  return added
    .filter(({ name }) => !named.some((one) => one.name === name))
    .map(({ name }) =>
      findingsOf('replicas').warning(
        `the replica ${name} is not in CLICKHOUSE_REPLICAS: processes with these settings do not write it`,
        `name it there, or run: npx hoplog replica drop ${name}`,
      ),
    );
}

async function rowsOf<Row>(clickhouse: ClickHouseClient, query: string): Promise<Row[]> {
  return (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Row>();
}
