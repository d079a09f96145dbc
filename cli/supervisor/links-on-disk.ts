import { existsSync } from 'node:fs';
import { readStreamIdentity } from '../../core/event-log/journal/stream-identity.ts';
import type { Config } from '../../core/settings/config.ts';
import { STREAM_NAME, secretsFile, tableDirectory } from '../../ingest/kept-secrets.ts';

/** Whether redirects can start without a store: an earlier start has kept their secrets, their links and their stream. */
export function hasKeptLinks(config: Pick<Config, 'dataDir' | 'streamName'>): boolean {
  const hasStream = readStreamIdentity(config.dataDir, config.streamName || STREAM_NAME) !== null;
  return hasStream && existsSync(secretsFile(tableDirectory(config)));
}
