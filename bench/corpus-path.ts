import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { corpusThroughService } from '../test/corpora/through-service.ts';
import { startService } from '../test/support/service.ts';
import { shareTables } from './shares.ts';

/**
 * Runs the corpus of real user agents and referers through the whole service (redirect, journal, workers,
 * ClickHouse, API) and prints the resulting shares.
 *
 *   node bench/corpus-path.ts
 */

const directory = mkdtempSync(join(tmpdir(), 'hoplog-corpus-'));
const service = await startService({ dataDir: join(directory, 'data'), env: { TRUST_PROXY: '127.0.0.1' } });
try {
  const passed = await corpusThroughService(service, service.demo?.secret_key ?? '');
  const rows = passed.map(({ stored }) => ({ ...stored, isBot: stored.is_bot }));
  const lines = [
    `${rows.length} clicks went in and came out`,
    '',
    '== all clicks',
    ...shareTables(rows),
    '== people only',
    ...shareTables(rows.filter((row) => !row.isBot)),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
} finally {
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
}
