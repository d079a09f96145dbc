import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clickhouseLibrary } from '../../cli/embedded/clickhouse.ts';
import { CLICKHOUSE_USER, configXml, usersXml } from '../../cli/embedded/clickhouse-config.ts';
import { freePort } from '../../cli/embedded/free-port.ts';
import { ANALYST_LIMITS } from '../../clickhouse/analysts/limits.ts';
import { analystDatabase, rowsUser } from '../../clickhouse/analysts/names.ts';
import {
  type Analyst,
  analystStatements,
  ofWorkspace,
  rowsUserStatements,
} from '../../clickhouse/analysts/statements.ts';
import { ANALYST_TABLES } from '../../clickhouse/analysts/views.ts';
import { until } from './until.ts';

const CHILD = fileURLToPath(new URL('../../cli/embedded/clickhouse-child.ts', import.meta.url));
const PASSWORD = 'the password of the service';

/** A ClickHouse with analysts in its configuration, because SQL can't create users in chDB. */
export type AnalystServer = { url: string; stop(): Promise<void> };

/** Starts it in a directory, with the rights, row policies and limits of `hoplog analyst create`. */
export async function startAnalystServer(
  directory: string,
  database: string,
  analysts: readonly Analyst[],
): Promise<AnalystServer> {
  const port = await freePort();
  const dataPath = join(directory, 'data');
  mkdirSync(dataPath, { recursive: true });
  const config = configXml({ dataPath, port, password: PASSWORD })
    // Lets any user sign in, as on a server.
    .replace(/<headers><Authorization>.*?<\/headers>/g, '')
    .replace(
      '</clickhouse>',
      `<access_control_improvements>
        <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
        <select_from_information_schema_requires_grant>true</select_from_information_schema_requires_grant>
      </access_control_improvements></clickhouse>`,
    );
  writeFileSync(join(directory, 'config.xml'), config);
  const workspaces = [...new Set(analysts.map(({ workspaceId }) => workspaceId))];
  const users = usersXml(PASSWORD)
    .replace(
      '</users>',
      `${analysts.map((one) => analystXml(database, one)).join('')}
      ${workspaces.map((one) => rowsXml(database, one)).join('')}</users>`,
    )
    .replace('</profiles>', `<analyst>${limitsXml()}</analyst></profiles>`);
  writeFileSync(join(directory, 'users.xml'), users);
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', CHILD, clickhouseLibrary()],
    {
      cwd: directory,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: process.env.PATH, TZ: 'UTC' },
    },
  );
  const exited = once(child, 'exit');
  const url = `http://${CLICKHOUSE_USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`;
  await until('the response of ClickHouse', () =>
    fetch(`http://127.0.0.1:${port}/ping`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    url,
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}

function limitsXml(): string {
  const entries = Object.entries(ANALYST_LIMITS);
  const values = entries.map(([name, { value }]) => `<${name}>${value}</${name}>`);
  const constraints = entries.map(([name, { least, most }]) => {
    const range = most === undefined ? '<readonly/>' : `<min>${least ?? 0}</min><max>${most}</max>`;
    return `<${name}>${range}</${name}>`;
  });
  return `${values.join('')}<constraints>${constraints.join('')}</constraints>`;
}

/** The rights among the statements that `hoplog analyst create` runs, for a user of the configuration. */
function grantsXml(statements: readonly string[]): string {
  const grants = statements.filter((sql) => sql.startsWith('GRANT'));
  return grants.map((sql) => `<query>${sql.replace(/ TO \S+$/, '')}</query>`).join('');
}

function analystXml(database: string, analyst: Analyst): string {
  const { user, workspaceId, passwordHash } = analyst;
  const views = analystDatabase(database, workspaceId);
  return `<${user}>
    <password_sha256_hex>${passwordHash}</password_sha256_hex>
    <profile>analyst</profile><quota>default</quota>
    <networks><ip>127.0.0.1</ip></networks>
    <default_database>${views}</default_database>
    <grants>${grantsXml(analystStatements(database, analyst))}</grants>
  </${user}>`;
}

/** The user that a workspace's views run as: no address may sign in as it. */
function rowsXml(database: string, workspaceId: string): string {
  const user = rowsUser(workspaceId);
  const filters = ANALYST_TABLES.map(
    (name) => `<${name}><filter>${ofWorkspace(workspaceId)}</filter></${name}>`,
  );
  return `<${user}>
    <no_password/><profile>default</profile><quota>default</quota>
    <networks><ip>255.255.255.255</ip></networks>
    <grants>${grantsXml(rowsUserStatements(database, workspaceId))}</grants>
    <databases><${database}>${filters.join('')}</${database}></databases>
  </${user}>`;
}
