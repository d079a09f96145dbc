import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { firstHost } from '../../core/databases/postgres-hosts.ts';
import type { Queryable } from './pool.ts';

/** The role of the tiers and commands, with the rights that they need: it owns nothing. */
export type ServiceRole = { name: string; password: string };

/** Tables whose rows are inserted and read, never changed or deleted. Triggers refuse changes to the owner too. */
export const APPEND_ONLY_TABLES = [
  'ledger_entries',
  'ledger_chain',
  'grant_changes',
  'commission_changes',
  'payout_changes',
  'program_terms',
  'terms_acceptances',
  'audit_entries',
];

/** Tables whose rows change, and are never deleted. */
export const UNDELETABLE_TABLES = [
  'grants',
  'commissions',
  'refunds',
  'purchases',
  'enrollments',
  'payout_exports',
  'payouts',
  'payout_commissions',
];

/** Tables whose rows are inserted; only these columns change, when an erasure empties them. */
const ERASABLE_COLUMNS = { enrollment_changes: ['old_value', 'new_value'] };

/** Truncated tables, so that no deleted row stays in a file. */
const EMPTIED_TABLES = ['visitor_salts'];

/** Tables that only migrations write. */
const READ_ONLY_TABLES = ['migrations', 'deployment_secrets'];

/**
 * Returns the role in the URL of the tiers, or null when it is the owner too.
 *
 * @param url `postgres://…` of the tiers
 * @param ownerUrl `postgres://…` of the owner of the tables
 */
export function serviceRoleIn(url: string, ownerUrl: string): ServiceRole | null {
  const [service, owner] = [firstHost(url), firstHost(ownerUrl)];
  if (service.username === owner.username) return null;
  return { name: decodeURIComponent(service.username), password: decodeURIComponent(service.password) };
}

/**
 * Creates the role unless it exists, and grants it exactly the rights of this release on every table. The password of a
 * role that exists stays.
 *
 * @param owner a connection of the tables' owner
 * @throws Error with advice, when the role is missing and the owner may not create roles
 */
export async function grantToService(owner: Queryable, role: ServiceRole): Promise<void> {
  const name = quoted(role.name);
  await createRole(owner, role);
  const { rows } = await owner.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`,
  );
  const all = rows.map((row) => row.name);
  const without = (...names: string[]) => all.filter((table) => !names.includes(table));
  const erasable = Object.entries(ERASABLE_COLUMNS);
  const fixed = [...APPEND_ONLY_TABLES, ...erasable.map(([table]) => table)];
  const grants = [
    grant('SELECT', all),
    grant('INSERT', without(...READ_ONLY_TABLES)),
    grant('UPDATE', without(...READ_ONLY_TABLES, ...fixed)),
    ...erasable.map(([table, columns]) => `GRANT UPDATE (${columns.join(', ')}) ON ${table} TO ${name}`),
    grant('DELETE', without(...READ_ONLY_TABLES, ...fixed, ...UNDELETABLE_TABLES)),
    grant('TRUNCATE', EMPTIED_TABLES),
  ];
  function grant(right: string, tables: string[]): string {
    return `GRANT ${right} ON ${tables.map(quoted).join(', ')} TO ${name}`;
  }
  // One transaction: a running service never sees its rights missing.
  await owner.query('BEGIN');
  try {
    for (const statement of [
      `GRANT USAGE ON SCHEMA public TO ${name}`,
      `REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${name}`,
      ...grants,
      `GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${name}`,
    ]) {
      await owner.query(statement);
    }
    await owner.query('COMMIT');
  } catch (error) {
    await owner.query('ROLLBACK');
    throw new Error(`failed to grant rights to the role ${role.name} of DATABASE_URL`, { cause: error });
  }
}

/** Limit of a statement behind a pooler. As long as that of the tier with the longest statements. */
const STATEMENT_LIMIT = '30s';

/**
 * Limits the statements of the tiers' role in this database, unless an administrator has set a limit for it. Direct
 * connections set their own limits, which they can't behind a pooler in transaction mode. Does nothing when the owner
 * may not change the role: `hoplog doctor` reports that.
 *
 * @param role null: the owner's
 */
export async function limitStatements(owner: Queryable, role: string | null): Promise<void> {
  const { rows } = await owner.query<{ name: string; database: string; is_set: boolean }>(
    `SELECT rolname AS name, current_database() AS database, EXISTS (
       SELECT FROM pg_db_role_setting, unnest(setconfig) AS setting
       WHERE setrole = pg_roles.oid AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
         AND setting LIKE 'statement\\_timeout=%') AS is_set
     FROM pg_roles WHERE rolname = coalesce($1, current_user)`,
    [role],
  );
  const [found] = rows;
  if (!found || found.is_set) return;
  try {
    await owner.query(
      `ALTER ROLE ${quoted(found.name)} IN DATABASE ${quoted(found.database)} SET statement_timeout = '${STATEMENT_LIMIT}'`,
    );
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === INSUFFICIENT_PRIVILEGE)) throw error;
  }
}

/** Two deployments on one server may create the role at the same time. */
const DUPLICATE = ['42710', '23505'];
const INSUFFICIENT_PRIVILEGE = '42501';

async function createRole(owner: Queryable, { name, password }: ServiceRole): Promise<void> {
  const { rowCount } = await owner.query('SELECT FROM pg_roles WHERE rolname = $1', [name]);
  if (rowCount !== 0) return;
  // The statement has a verifier instead of the password, so that no log of the server has the password.
  const login = password === '' ? '' : ` PASSWORD '${scramVerifier(password)}'`;
  try {
    await owner.query(`CREATE ROLE ${quoted(name)} LOGIN${login}`);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (DUPLICATE.includes(code)) return;
    if (code !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new Error(
      `the role ${name} of DATABASE_URL does not exist, and the role of DATABASE_OWNER_URL may not create roles: ` +
        `run as an administrator of PostgreSQL: CREATE ROLE ${quoted(name)} LOGIN PASSWORD '…'`,
      { cause: error },
    );
  }
}

const SCRAM_ITERATIONS = 4_096;

/** Returns the verifier that PostgreSQL stores for a password (RFC 5803). ASCII passwords need no SASLprep. */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, SCRAM_ITERATIONS, 32, 'sha256');
  const keyOf = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${SCRAM_ITERATIONS}:${salt.toString('base64')}$${stored}:${keyOf('Server Key').toString('base64')}`;
}

function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
