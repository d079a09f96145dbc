import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../core/settings/config.ts';
import type { Logger } from '../core/tier/log.ts';
import type { Pool } from '../sql/database/pool.ts';
import { type DeploymentSecrets, readSecrets } from '../sql/database/secrets.ts';

/** The secrets that ingest works with. */
export type IngestSecrets = Pick<DeploymentSecrets, 'visitor' | 'cookie' | 'address'>;

/** Name of the stream, and of its directory, when `STREAM_NAME` gives none. */
export const STREAM_NAME = 'ingest-0';

/** Where a stream's process keeps what it starts from without PostgreSQL: its secrets and its link table. */
export function tableDirectory({ dataDir, streamName }: Pick<Config, 'dataDir' | 'streamName'>): string {
  return join(dataDir, 'ingest', streamName || STREAM_NAME);
}

/** Where the secrets are in it. */
export function secretsFile(directory: string): string {
  return join(directory, 'secrets.json');
}

const NAMES = ['visitor', 'cookie', 'address'] as const;
const RETRY_MS = 1_000;

/**
 * The deployment's secrets from PostgreSQL, kept in a file for starts while it is down. A first start waits for it:
 * without secrets no visitor id can be made.
 *
 * @param path of the file; readable by this user only
 * @returns them, and whether they are the kept ones because PostgreSQL does not answer
 * @throws what the disk says when they can't be kept
 */
export async function loadSecrets(
  pool: Pool,
  path: string,
  log: Logger,
): Promise<{ secrets: IngestSecrets; kept: boolean }> {
  let secrets: IngestSecrets | null = null;
  while (secrets === null) {
    try {
      const { visitor, cookie, address } = await readSecrets(pool);
      secrets = { visitor, cookie, address };
    } catch (error) {
      const kept = await readKept(path);
      if (kept !== null) {
        log.warn({ err: error }, 'PostgreSQL does not answer: starting with what is kept on disk');
        return { secrets: kept, kept: true };
      }
      log.error({ err: error }, 'the first start needs PostgreSQL, which does not answer: waiting');
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
  await keep(path, secrets);
  return { secrets, kept: false };
}

async function keep(path: string, secrets: IngestSecrets): Promise<void> {
  const text = JSON.stringify(
    Object.fromEntries(NAMES.map((name) => [name, secrets[name].toString('base64')])),
  );
  const before = await readFile(path, 'utf8').catch(() => '');
  if (before === text) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(`${path}.new`, text, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}

async function readKept(path: string): Promise<IngestSecrets | null> {
  let kept: Record<string, unknown>;
  try {
    kept = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  } catch {
    return null;
  }
  const secret = (name: (typeof NAMES)[number]) => Buffer.from(String(kept[name] ?? ''), 'base64');
  const secrets = { visitor: secret('visitor'), cookie: secret('cookie'), address: secret('address') };
  return NAMES.every((name) => secrets[name].length === 32) ? secrets : null;
}
