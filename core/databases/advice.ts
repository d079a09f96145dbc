import type { SecretSetting } from '../settings/secrets.ts';
import { DatabaseConnectionError } from './connection-error.ts';
import { type ConfigurationKind, type DatabaseName, databaseFault, isConfigurationKind } from './faults.ts';

/** The page for operators. */
export const FAULTS_PAGE = 'docs/operations/configuration-faults.md';

type Setting = SecretSetting | 'CLICKHOUSE_DATABASE';

/** Advice to an operator on an error. */
export type Advice = {
  /** One sentence: what is wrong, and how to fix it. */
  message: string;
  /** Settings to check. One of a secret may be set by its `_FILE`. */
  settings: readonly string[];
  page: string;
};

const POSTGRES: readonly Setting[] = ['DATABASE_URL'];
const CLICKHOUSE: readonly Setting[] = ['CLICKHOUSE_URL'];

const ADVICE: Readonly<
  Record<DatabaseName, Readonly<Record<ConfigurationKind, { message: string; settings: readonly Setting[] }>>>
> = {
  PostgreSQL: {
    credentials: {
      message: 'PostgreSQL refuses the user or the password: check DATABASE_URL and DATABASE_PASSWORD',
      settings: [...POSTGRES, 'DATABASE_PASSWORD'],
    },
    rights: {
      message:
        'the user of PostgreSQL lacks a right: check DATABASE_URL, and run "hoplog migrate", which grants the rights',
      settings: POSTGRES,
    },
    missing: {
      message: 'PostgreSQL lacks the database, or a table: check DATABASE_URL, and run "hoplog migrate"',
      settings: POSTGRES,
    },
    tls: {
      message: 'no trusted TLS connection to PostgreSQL: check sslmode and sslrootcert in DATABASE_URL',
      settings: POSTGRES,
    },
    address: {
      message: 'PostgreSQL does not respond at its address: check DATABASE_URL',
      settings: POSTGRES,
    },
  },
  ClickHouse: {
    credentials: {
      message: 'ClickHouse refuses the user or the password: check CLICKHOUSE_URL and CLICKHOUSE_PASSWORD',
      settings: [...CLICKHOUSE, 'CLICKHOUSE_PASSWORD'],
    },
    rights: {
      message:
        'the user of ClickHouse lacks a right, or may not change a setting: check the user in CLICKHOUSE_URL and its grants',
      settings: CLICKHOUSE,
    },
    missing: {
      message:
        'ClickHouse lacks the database, or a table: check CLICKHOUSE_DATABASE, and run "hoplog migrate"',
      settings: ['CLICKHOUSE_DATABASE'],
    },
    tls: {
      message:
        'no trusted TLS connection to ClickHouse: check CLICKHOUSE_URL, and NODE_EXTRA_CA_CERTS for its authority',
      settings: CLICKHOUSE,
    },
    address: {
      message:
        'something else than ClickHouse responds at its address: check CLICKHOUSE_URL and the proxies in between',
      settings: CLICKHOUSE,
    },
  },
};

/** Returns what to correct for an error that a wrong setting, grant, or schema causes; null for any other error. */
export function adviceOn(error: unknown): Advice | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    const fault = databaseFault(at);
    if (fault?.database != null && isConfigurationKind(fault.kind)) {
      const advice = { ...ADVICE[fault.database][fault.kind], page: FAULTS_PAGE };
      const setting = at instanceof DatabaseConnectionError ? at.setting : null;
      return setting === null ? advice : { ...advice, message: at.message, settings: [setting] };
    }
  }
  return null;
}
