import { openFileTarget } from '../../core/file-targets/open.ts';
import { TargetFailed } from '../../core/file-targets/target.ts';
import { type Config, ConfigError } from '../../core/settings/config.ts';
import type { LinkSources } from './disk/messages.ts';

/**
 * Returns what links are read from.
 *
 * @param secret of the deployment
 * @throws {ConfigError} when `LINKS_SNAPSHOT_TO` can't be used
 */
export function linkSources(config: Config, secret: Uint8Array): LinkSources {
  const { databaseUrl, databaseDirectUrl, databaseReadUrl, linksSnapshotTo: to, s3 } = config;
  const urls = { databaseUrl, databaseDirectUrl, databaseReadUrl };
  if (to === '') return { ...urls, snapshot: null };
  try {
    openFileTarget(to, s3);
  } catch (error) {
    if (!(error instanceof TargetFailed)) throw error;
    throw new ConfigError('LINKS_SNAPSHOT_TO', to, error.message);
  }
  return { ...urls, snapshot: { to, s3, secret } };
}
