/**
 * Starts one PostgreSQL and one ClickHouse for several test runs at once, prints the environment settings
 * for those runs, and keeps the servers until Ctrl-C or SIGTERM:
 *
 *     node --disable-warning=ExperimentalWarning test/support/serve.ts
 */
import { startServers } from './servers.ts';

const servers = await startServers();
process.stdout.write(
  `export TEST_DATABASE_URL=${servers.databaseUrl}\nexport TEST_CLICKHOUSE_URL=${servers.clickhouseUrl}\n`,
);
const stop = () => {
  process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM');
  void servers.stop().then(() => process.exit(0));
};
process.on('SIGINT', stop);
process.on('SIGTERM', stop);
