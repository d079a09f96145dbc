import { readConfig, SettingsError } from '../core/settings/config.ts';
import { loadEnvFile } from '../core/settings/env-file.ts';
import { CONFIGURATION_ERROR } from '../core/settings/tier-settings.ts';
import { createLogger } from '../core/tier/log.ts';
import { createRegistry, serveMetrics } from '../core/tier/metrics.ts';
import { openIngest } from './open.ts';

/** The redirect tier's process: settings and signals. The rest is in `open.ts`. */

/** Limit of a close that hangs: events are in the journal. */
const CLOSE_LIMIT_MS = 3_000;

async function main(): Promise<void> {
  loadEnvFile();
  const config = readConfig(process.env);
  const log = createLogger('ingest', config.logLevel);
  const registry = createRegistry('ingest');
  const ingest = await openIngest({ config, log, registry });
  const closeMetrics = await serveMetrics(registry, config.host, config.metricsPort);
  process.stdout.write(`${JSON.stringify({ event: 'ready', port: ingest.port })}\n`);

  let closing = false;
  async function stop(signal: string): Promise<void> {
    if (closing) return;
    closing = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.error('failed to close within 3 s; exiting');
      process.exit(1);
    }, CLOSE_LIMIT_MS).unref();
    await ingest.close();
    await closeMetrics();
    process.exit(0);
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      stop(signal).catch((error: unknown) => {
        log.error({ err: error }, 'failed to close');
        process.exit(1);
      });
    });
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof SettingsError ? error.message : error}\n`);
  process.exit(error instanceof SettingsError ? CONFIGURATION_ERROR : 1);
});
