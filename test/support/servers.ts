import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedClickHouse } from '../../cli/embedded/clickhouse.ts';
import { startEmbeddedPostgres } from '../../cli/embedded/postgres.ts';
import { createLogger } from '../../core/tier/log.ts';
import { bindRunning } from './bound-process.ts';

/** One PostgreSQL and one ClickHouse server, for any number of tests. */
export type Servers = {
  /** The superuser's address of PostgreSQL, any database. */
  databaseUrl: string;
  /** Directory of PostgreSQL's Unix socket, on which a query takes half of the CPU time; empty: it has none. */
  databaseSocket: string;
  clickhouseUrl: string;
  stop(): Promise<void>;
};

/** Linux limits the path to 107 bytes, with the socket's own name. */
const LONGEST_SOCKET_DIRECTORY = 85;

/**
 * Starts both embedded servers in a temporary directory. PostgreSQL runs without fsync here, because a test's data need
 * not survive a crash of the machine.
 */
export async function startServers(): Promise<Servers> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hoplog-test-'));
  const log = createLogger('test-stores', 'error');
  const socket = join(dataDir, 'postgres');
  const hasSocket = socket.length <= LONGEST_SOCKET_DIRECTORY;
  const postgres = await startEmbeddedPostgres({ dataDir, log, durable: false, hasSocket });
  const release = bindRunning(postgres.pid);
  try {
    const clickhouse = await startEmbeddedClickHouse({ dataDir, log });
    return {
      databaseUrl: postgres.url,
      databaseSocket: hasSocket ? socket : '',
      clickhouseUrl: clickhouse.url,
      async stop() {
        await Promise.all([clickhouse.stop(), postgres.stop()]);
        release();
        rmSync(dataDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await postgres.stop();
    release();
    throw error;
  }
}
