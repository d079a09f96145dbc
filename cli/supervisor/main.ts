import { readConfig, SettingsError } from '../../core/settings/config.ts';
import { misspelledSettings } from '../../core/settings/misspelled-settings.ts';
import { createLogger } from '../../core/tier/log.ts';
import { AddressSpaceLimited } from '../embedded/address-space.ts';
import { RootNotLeft } from '../embedded/leave-root.ts';
import { memoryWarning } from '../embedded/memory.ts';
import { StoreNotStarted } from '../embedded/store.ts';
import { readyLine, readyText } from './announcement.ts';
import { AlreadyRunning } from './lock.ts';
import { onNpmDeath } from './npm-parent.ts';
import { createSupervisor } from './supervisor.ts';
import { TierNotStarted } from './tier.ts';

/** npm and the terminal each forward one Ctrl-C, so signals within this time count as one. */
const SECOND_SIGNAL_MS = 1_000;

/** Exits with status 1, because this process cannot start the service. */
export function refuseStart(error: unknown): never {
  warnOfMisspelledSettings();
  process.stderr.write(`hoplog: ${message(error)}\n`);
  process.exit(1);
}

/**
 * Runs the service until a signal or a failed start ends it.
 *
 * @param startedAt of this process, by `performance.now()`
 */
export async function superviseService(startedAt: number): Promise<void> {
  warnOfMisspelledSettings();
  const terminal = process.stderr.isTTY;
  const log = createLogger('supervisor', logLevel());
  const tooSmall = memoryWarning();
  if (tooSmall !== null) log.warn(tooSmall);
  const supervisor = createSupervisor({
    env: process.env,
    log,
    onProgress: (step) => {
      if (terminal) process.stderr.write(`  ${step} …\n`);
      else log.info(step);
    },
  });

  let stoppingSince: number | undefined;
  // Output to a full disk fails; continue.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
  // A crash would leave the children behind.
  process.on('uncaughtException', (error) => {
    process.stderr.write(`hoplog: ${message(error)}\n`);
    if (stoppingSince !== undefined) return;
    stoppingSince = performance.now();
    void end(1);
  });
  const unwatch = onNpmDeath(process.env, () => stop('npm exited'));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop(signal));

  try {
    const started = await supervisor.start();
    if (stoppingSince === undefined) {
      const isRead = !(terminal && process.stdout.isTTY);
      process.stdout.write(`${readyLine(started, isRead)}\n`);
      if (terminal) process.stderr.write(readyText(started, (performance.now() - startedAt) / 1_000));
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
      if (performance.now() - stoppingSince < SECOND_SIGNAL_MS) return;
      supervisor.kill();
      process.exit(1);
    }
    stoppingSince = performance.now();
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
    // Exits even if a handle is still open.
    setTimeout(() => process.exit(), 500).unref();
  }
}

/** Returns only the message of an operator's mistake, and the stack trace of any other error. */
function message(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isOperators = [
    SettingsError,
    AddressSpaceLimited,
    AlreadyRunning,
    RootNotLeft,
    StoreNotStarted,
    TierNotStarted,
  ].some((kind) => error instanceof kind);
  return isOperators ? error.message : (error.stack ?? error.message);
}

/** Warns about misspelled settings. Call it after root is left, because this program starts again then. */
function warnOfMisspelledSettings(): void {
  for (const { name, near } of misspelledSettings(process.env)) {
    createLogger('supervisor', logLevel()).warn(
      `unknown setting ${name} has no effect; did you mean ${near}?`,
    );
  }
}

function logLevel(): string {
  try {
    return readConfig(process.env).logLevel;
  } catch {
    return 'info'; // start() reports the error.
  }
}
