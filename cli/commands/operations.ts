import type { Command } from 'commander';
import { createLogger } from '../../core/tier/log.ts';
import { createPool } from '../../sql/database/pool.ts';
import { wholeNumber } from '../arguments.ts';
import { refuseExamplePasswords } from '../example-passwords.ts';
import { migrateStores } from '../migrate-stores.ts';
import { printResult, table } from '../output.ts';
import { readStatus } from '../status.ts';
import { operatorConfig } from '../stores.ts';
import { createDemoWorkspace } from '../supervisor/first-start.ts';
import { retryUntilReady } from '../supervisor/retry-until-ready.ts';

/** `hoplog migrate | status`. */
export function operationCommands(program: Command): void {
  program
    .command('migrate')
    .description('apply pending migrations to PostgreSQL and ClickHouse')
    .option('--wait <seconds>', 'time to retry while a database is unreachable', wholeNumber(0, 3_600))
    .option(
      '--published-on <addresses...>',
      'addresses of the published ports; unless all are loopback, default passwords are rejected',
      ['127.0.0.1'],
    )
    .option('--demo', 'create the workspace demo if no workspace exists; its keys are shown once')
    .action(async (options: { demo?: boolean; wait?: number; publishedOn: string[] }, command: Command) => {
      const config = await operatorConfig();
      refuseExamplePasswords(config, options.publishedOn);
      const pool = createPool(config.databaseOwnerUrl, { max: 2, name: 'hoplog-migrate' });
      try {
        const { applied, warnings } = await retryFor(options.wait ?? 0, () => migrateStores(pool, config));
        for (const warning of warnings) process.stderr.write(`hoplog: ${warning}\n`);
        const demo = options.demo ? await createDemoWorkspace(pool, config.appUrl) : null;
        printResult(command, { applied, ...(demo && { demo }) }, (result) => {
          const done = table(
            ['database', 'applied'],
            Object.entries(result.applied).map(([store, names]) => [store, names.join(', ') || 'up to date']),
          );
          if (!demo) return done;
          return `${done}\n\nworkspace demo\nsecret key       ${demo.secret_key}\npublishable key  ${demo.publishable_key}\nconsole          ${demo.console_url}\nThese are shown only once. The link works for 15 minutes; for a new one, run "hoplog console invite --workspace demo".`;
        });
      } finally {
        await pool.end();
      }
    });

  program
    .command('status')
    .description('print the health and lag of every part; exits with 1 if one is down')
    .action(async (_options: object, command: Command) => {
      const status = await readStatus(await operatorConfig());
      printResult(command, status, (result) => {
        const parts = table(
          ['part', 'state', 'detail'],
          Object.entries(result.parts).map(([part, { ok, isWarning, detail }]) => [
            part,
            ok ? (isWarning ? 'up, WARNING' : 'up') : 'DOWN',
            detail,
          ]),
        );
        if (!result.progress) return parts;
        const streams = table(
          ['stream', 'ordinal', 'state', 'visible', 'behind'],
          result.progress.streams.map((one) => [
            one.name,
            String(one.ordinal),
            one.state,
            one.visible_before,
            `${one.lag_seconds.toFixed(1)} s`,
          ]),
        );
        return `${parts}\n\n${streams}\n\nwatermark ${result.progress.watermark ?? '-'}, dead letters ${result.progress.dead_letters}, orders not attributed yet ${result.progress.orders_unattributed}`;
      });
      if (!allUp(status)) process.exitCode = 1;
    });
}

/**
 * Retries a step while a database is unreachable.
 *
 * @throws the last error, after the time limit
 */
async function retryFor<Result>(waitSeconds: number, step: () => Promise<Result>): Promise<Result> {
  let last: unknown;
  const recordError = () =>
    step().catch((error: unknown) => {
      last = error;
      throw error;
    });
  const waiting = {
    log: createLogger('migrate'),
    stopping: AbortSignal.timeout(waitSeconds * 1_000),
    persist: false,
  };
  return retryUntilReady(recordError, waiting).catch((error: unknown) => {
    throw last ?? error;
  });
}

function allUp(status: { parts: Record<string, { ok: boolean }> }): boolean {
  return Object.values(status.parts).every((part) => part.ok);
}
