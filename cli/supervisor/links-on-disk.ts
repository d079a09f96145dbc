import { existsSync } from 'node:fs';
import { readStreamIdentity } from '../../core/event-log/journal/stream-identity.ts';
import type { Config } from '../../core/settings/config.ts';
import { STREAM_NAME, secretsFile, tableDirectory } from '../../ingest/cached-secrets.ts';

/** Checks that redirects can start without a database, from the secrets, links, and stream of an earlier start. */
export function hasLinksOnDisk(config: Pick<Config, 'dataDir' | 'streamName'>): boolean {
  const hasStream = readStreamIdentity(config.dataDir, config.streamName || STREAM_NAME) !== null;
  return hasStream && existsSync(secretsFile(tableDirectory(config)));
}
