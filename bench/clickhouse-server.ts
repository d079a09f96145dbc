import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedClickHouse } from '../cli/embedded/clickhouse.ts';
import { createLogger } from '../core/tier/log.ts';

/**
 * Runs `work` on the ClickHouse server at `url`, or on an embedded one in a temporary directory.
 */
export async function withClickHouse(
  url: string | undefined,
  work: (url: string) => Promise<void>,
): Promise<void> {
  if (url !== undefined) return work(url);
  const dataDir = mkdtempSync(join(tmpdir(), 'hoplog-bench-'));
  const server = await startEmbeddedClickHouse({ dataDir, log: createLogger('bench', 'error') });
  try {
    await work(server.url);
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
