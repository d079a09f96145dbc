import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Serves ClickHouse of the package chdb: on every address, with user and password of the environment. */
const HOME = '/var/lib/clickhouse';
const { CLICKHOUSE_USER = 'default', CLICKHOUSE_PASSWORD = '', CLICKHOUSE_PASSWORD_FILE } = process.env;
const password = CLICKHOUSE_PASSWORD_FILE
  ? readFileSync(CLICKHOUSE_PASSWORD_FILE, 'utf8').trim()
  : CLICKHOUSE_PASSWORD;

const config = `<clickhouse>
  <logger><level>warning</level><console>1</console></logger>
  <path>${HOME}/data/</path>
  <http_port>8123</http_port>
  <listen_host>0.0.0.0</listen_host>
  <users_config>users.xml</users_config>
  <max_server_memory_usage>${2 ** 31}</max_server_memory_usage>
  <background_pool_size>4</background_pool_size>
  <backups><allowed_path>${HOME}/backups/</allowed_path></backups>
  <merge_tree>
    <number_of_free_entries_in_pool_to_execute_mutation>1</number_of_free_entries_in_pool_to_execute_mutation>
    <number_of_free_entries_in_pool_to_lower_max_size_of_merge>1</number_of_free_entries_in_pool_to_lower_max_size_of_merge>
    <number_of_free_entries_in_pool_to_execute_optimize_entire_partition>1</number_of_free_entries_in_pool_to_execute_optimize_entire_partition>
  </merge_tree>
</clickhouse>
`;
/** The library's own session is the user `default`, from loopback. */
const users = `<clickhouse>
  <users>
    <default>
      <password></password><profile>default</profile><quota>default</quota>
      <networks><ip>127.0.0.1</ip></networks>
    </default>
    <${CLICKHOUSE_USER}>
      <password_sha256_hex>${createHash('sha256').update(password).digest('hex')}</password_sha256_hex>
      <profile>default</profile><quota>default</quota>
      <networks><ip>::/0</ip></networks>
      <access_management>1</access_management>
    </${CLICKHOUSE_USER}>
  </users>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
</clickhouse>
`;

mkdirSync(join(HOME, 'data'), { recursive: true });
writeFileSync(join(HOME, 'config.xml'), config);
writeFileSync(join(HOME, 'users.xml'), users);
const library = join(
  dirname(createRequire(import.meta.url).resolve(`@chdb/lib-linux-${process.arch}-gnu`)),
  'libchdb.so',
);
// Ends when its standard input ends.
const child = spawn(
  process.execPath,
  ['--disable-warning=ExperimentalWarning', '/opt/clickhouse/clickhouse-child.ts', library],
  { cwd: HOME, stdio: ['pipe', 'inherit', 'inherit'], env: { PATH: process.env.PATH, TZ: 'UTC' } },
);
child.once('exit', (status) => process.exit(status ?? 1));
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => child.stdin?.end());
