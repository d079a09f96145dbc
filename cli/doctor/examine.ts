import { type Config, readConfig, SettingsError } from '../../core/settings/config.ts';
import { misspelledSettings } from '../../core/settings/misspelled-settings.ts';
import { servingStatus } from '../status.ts';
import { type OperatorConfig, operatorConfig } from '../stores.ts';
import { checkAddresses, checkPorts } from './addresses.ts';
import { checkBackups, checkDatabases, checkJournalClock } from './data.ts';
import { type Finding, findingsOf } from './finding.ts';
import { checkIdentityProvider } from './identity-provider.ts';
import { checkSnapshot } from './links-snapshot.ts';
import { checkDisk, checkMemory, checkTimeService, checkVersion } from './machine.ts';
import { checkReplica } from './read-replica.ts';

/**
 * Runs every check that applies; more of them while the service runs. A check that fails unexpectedly is a finding too.
 *
 * @param version of Hoplog
 */
export async function examine(env: NodeJS.ProcessEnv, version: string): Promise<Finding[]> {
  const settings = findingsOf('settings');
  const misspelled = misspelledSettings(env).map(({ name, near }) =>
    settings.warning(`${name} is not a setting`, `rename it to ${near}`),
  );
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return [
      ...misspelled,
      settings.error(
        error.message,
        'correct it in .env or in the environment; .env.example has all settings',
      ),
    ];
  }
  const accepted = misspelled.length === 0 ? [settings.ok('all are accepted')] : misspelled;
  const running = await operatorConfig().catch(() => null);
  const service = findingsOf('service');
  const all = await Promise.all([
    running
      ? attempt('service', () => checkService(running))
      : [service.error(`no service runs on DATA_DIR=${config.dataDir}`, 'npm start')],
    attempt('version', () => checkVersion(config, version)),
    attempt('disk', () => checkDisk(config)),
    attempt('memory', checkMemory),
    attempt('clock', checkTimeService),
    attempt('clock', () => checkJournalClock(config)),
    running
      ? attempt('databases', () => checkDatabases(running))
      : attempt('ports', () => checkPorts(config)),
    ...(running
      ? [attempt('replica', () => checkReplica(running)), attempt('snapshot', () => checkSnapshot(running))]
      : []),
    attempt('proxy', () => checkAddresses(running ?? config, running !== null)),
    attempt('sign-in', () => checkIdentityProvider(running ?? config)),
    attempt('backups', () => checkBackups(config)),
  ]);
  return [...accepted, ...all.flat()];
}

/** Checks that redirects and API accept work and lose no clicks. */
async function checkService(config: OperatorConfig): Promise<Finding[]> {
  const { ok, error } = findingsOf('service');
  const troubles = Object.entries(await servingStatus(config)).filter(([, { ok }]) => !ok);
  if (troubles.length === 0) return [ok('redirects and API are ready')];
  return troubles.map(([name, { detail }]) =>
    error(`${name}: ${detail}`, 'npx hoplog status, and the log of npm start'),
  );
}

async function attempt(check: string, run: () => Finding[] | Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    const { message } = error as Error;
    return [
      findingsOf(check).error(
        `the check failed: ${message}`,
        'correct this first, then run: npx hoplog doctor',
      ),
    ];
  }
}
