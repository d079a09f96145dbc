/**
 * `npm start`: the whole service on one machine. Standard output gets one line of JSON once redirects and
 * API answer; standard error gets logs and, on a terminal, the progress of the start.
 *
 * Exit status: 0 after SIGTERM or SIGINT, 1 when it could not start.
 */
import { readConfig, SettingsError } from '../core/settings/config.ts';
import { loadEnvFile } from '../core/settings/env-file.ts';
import { misspelledSettings } from '../core/settings/misspelled-settings.ts';
import { createLogger } from '../core/tier/log.ts';
import { AddressSpaceLimited, assertAddressSpace } from './embedded/address-space.ts';
import { StoreNotStarted } from './embedded/store.ts';
import { readyLine, readyText } from './supervisor/announcement.ts';
import { AlreadyRunning } from './supervisor/lock.ts';
import { onNpmDeath } from './supervisor/npm-parent.ts';
import { createSupervisor } from './supervisor/supervisor.ts';
import { TierNotStarted } from './supervisor/tier.ts';

/** npm and the terminal both pass one Ctrl-C on; only a later one is a second one. */
const SECOND_SIGNAL_MS = 1_000;

// Whatever is written below DATA_DIR is for this user only.
process.umask(0o077);
const startedAt = Date.now();
try {
  assertAddressSpace();
  loadEnvFile();
} catch (error) {
  process.stderr.write(`hoplog: ${message(error)}\n`);
  process.exit(1);
}
const terminal = process.stderr.isTTY;
const log = createLogger('supervisor', logLevel());
for (const { name, near } of misspelledSettings(process.env)) {
  log.warn(`there is no setting ${name}, so it has no effect: ${near} may be meant`);
}
const supervisor = createSupervisor({
  env: process.env,
  log,
  onProgress: (step) => {
    if (terminal) process.stderr.write(`  ${step} …\n`);
    else log.info(step);
  },
});

let stoppingSince: number | undefined;
// The disk that the output goes to may be full: that ends nothing.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
// Ended without order, this process would leave its children behind.
process.on('uncaughtException', (error) => {
  process.stderr.write(`hoplog: ${message(error)}\n`);
  if (stoppingSince !== undefined) return;
  stoppingSince = Date.now();
  void end(1);
});
const unwatch = onNpmDeath(process.env, () => stop('npm died'));
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop(signal));

try {
  const started = await supervisor.start();
  if (stoppingSince === undefined) {
    process.stdout.write(`${readyLine(started)}\n`);
    if (terminal) process.stderr.write(readyText(started, (Date.now() - startedAt) / 1_000));
    started.onShown();
  }
} catch (error) {
  if (stoppingSince === undefined) {
    process.stderr.write(`hoplog: ${message(error)}\n`);
    await end(1);
  }
}

function stop(cause: string): void {
  if (stoppingSince !== undefined) {
    if (Date.now() - stoppingSince < SECOND_SIGNAL_MS) return;
    supervisor.kill();
    process.exit(1);
  }
  stoppingSince = Date.now();
  log.info({ cause }, 'stopping');
  void end(0);
}

async function end(status: number): Promise<void> {
  unwatch();
  process.exitCode = status;
  try {
    await supervisor.stop();
  } catch (error) {
    process.stderr.write(`hoplog: ${message(error)}\n`);
    process.exitCode = 1;
  }
  // Everything has ended; were a handle still open after all, this would not wait for it.
  setTimeout(() => process.exit(), 500).unref();
}

/** An operator's mistake needs its one line; anything else its trace. */
function message(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isOperators = [
    SettingsError,
    AddressSpaceLimited,
    AlreadyRunning,
    StoreNotStarted,
    TierNotStarted,
  ].some((kind) => error instanceof kind);
  return isOperators ? error.message : (error.stack ?? error.message);
}

function logLevel(): string {
  try {
    return readConfig(process.env).logLevel;
  } catch {
    return 'info'; // start() will say what is wrong
  }
}
