import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { adviceOn } from '../core/databases/advice.ts';
import type { Config } from '../core/settings/config.ts';
import type { Logger } from '../core/tier/log.ts';
import type { Pool } from '../sql/database/pool.ts';
import { type DeploymentSecrets, readSecrets } from '../sql/database/secrets.ts';

/** The secrets that ingest uses. */
export type IngestSecrets = Pick<DeploymentSecrets, 'visitor' | 'cookie' | 'address'>;

/** Name of the stream and its directory when `STREAM_NAME` is not set. */
export const STREAM_NAME = 'ingest-0';

/** Returns the directory of the secrets and the link table that let a stream's process start without PostgreSQL. */
export function tableDirectory({ dataDir, streamName }: Pick<Config, 'dataDir' | 'streamName'>): string {
  return join(dataDir, 'ingest', streamName || STREAM_NAME);
}

/** Returns the path of the secrets in it. */
export function secretsFile(directory: string): string {
  return join(directory, 'secrets.json');
}

const NAMES = ['visitor', 'cookie', 'address'] as const;
const RETRY_MS = 1_000;

/**
 * Returns the deployment's secrets from PostgreSQL, cached in a file for starts while it is down. A first start waits
 * for PostgreSQL: without secrets it can't make visitor ids.
 *
 * @param path of the file; readable by this user only
 * @returns the secrets, and whether they come from the file because PostgreSQL is down
 * @throws the disk's error when they can't be cached
 */
export async function loadSecrets(
  pool: Pool,
  path: string,
  log: Logger,
): Promise<{ secrets: IngestSecrets; cached: boolean }> {
  let secrets: IngestSecrets | null = null;
  while (secrets === null) {
    try {
      const { visitor, cookie, address } = await readSecrets(pool);
      secrets = { visitor, cookie, address };
    } catch (error) {
      const { message = 'PostgreSQL is down', ...more } = adviceOn(error) ?? {};
      const cached = await readCached(path);
      if (cached !== null) {
        log.warn({ err: error, ...more }, `${message}; starting with cached secrets`);
        return { secrets: cached, cached: true };
      }
      log.error({ err: error, ...more }, `${message}, and the first start needs it; will retry`);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
  await cache(path, secrets);
  return { secrets, cached: false };
}

async function cache(path: string, secrets: IngestSecrets): Promise<void> {
  const text = JSON.stringify(
    Object.fromEntries(NAMES.map((name) => [name, secrets[name].toString('base64')])),
  );
  const before = await readFile(path, 'utf8').catch(() => '');
  if (before === text) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(`${path}.new`, text, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}

async function readCached(path: string): Promise<IngestSecrets | null> {
  let cached: Record<string, unknown>;
  try {
    cached = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  } catch {
    return null;
  }
  const secret = (name: (typeof NAMES)[number]) => Buffer.from(String(cached[name] ?? ''), 'base64');
  const secrets = { visitor: secret('visitor'), cookie: secret('cookie'), address: secret('address') };
  return NAMES.every((name) => secrets[name].length === 32) ? secrets : null;
}
