import { chownSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { lockFile } from '../../core/file-lock.ts';
import type { FileTarget } from '../../core/file-targets/target.ts';
import { type Config, readConfig } from '../../core/settings/config.ts';
import { recordBackup } from '../../sql/database/last-backup.ts';
import { createPool } from '../../sql/database/pool.ts';
import { wholeNumber } from '../arguments.ts';
import { createBackup, sizeOf } from '../backup/create.ts';
import { listBackups, readManifest } from '../backup/manifest.ts';
import { pruneBackups } from '../backup/prune.ts';
import { restoreBackup } from '../backup/restore.ts';
import { openTarget } from '../backup/target.ts';
import { verifyBackup } from '../backup/verify.ts';
import { postgresMajor } from '../embedded/postgres-binaries.ts';
import { CommandFailed, printResult, table } from '../output.ts';
import { operatorConfig } from '../stores.ts';

const TARGET = 'folder or s3://bucket/prefix; default: BACKUP_TO';

/** `hoplog backup [list | verify]` and `hoplog restore`. */
export function backupCommands(program: Command): void {
  const group = program
    .command('backup')
    .description('back up a running `npm start` with its embedded databases, while clicks arrive')
    .option('--to <target>', TARGET)
    .option('--keep <count>', 'afterwards remove all but the newest backups', wholeNumber(1, 10_000))
    .action(async (options: { to?: string; keep?: number }, command: Command) => {
      const config = await embeddedConfig();
      const target = openTarget(options.to, config);
      const result = await exclusively(config, async () => {
        const created = await createBackup(config, target, program.version() ?? '');
        await record(config.databaseUrl);
        const removed = options.keep === undefined ? [] : await pruneBackups(target, options.keep);
        return { ...created, target: target.name, removed };
      });
      printResult(command, result, ({ name, bytes, new_bytes, seconds, removed }) =>
        [
          `backup ${name} is complete in ${target.name}: ${mebibytes(bytes)}, ${mebibytes(new_bytes)} of them new, in ${seconds.toFixed(1)} s`,
          ...(removed.length > 0 ? [`removed: ${removed.join(', ')}`] : []),
        ].join('\n'),
      );
    });

  group
    .command('list')
    .description('list the complete backups, oldest first')
    .option('--to <target>', TARGET)
    .action(async (options: { to?: string }, command: Command) => {
      const target = targetOf(group, options.to);
      const backups = await Promise.all(
        (await listBackups(target)).map(async (name) => {
          const manifest = await readManifest(target, name);
          return { name, version: manifest.version, point_at: manifest.point_at, bytes: sizeOf(manifest) };
        }),
      );
      printResult(command, { backups }, (result) =>
        table(
          ['name', 'version', 'point', 'size'],
          result.backups.map(({ name, version, point_at, bytes }) => [
            name,
            version,
            point_at,
            mebibytes(bytes),
          ]),
        ),
      );
    });

  group
    .command('verify [name]')
    .description('read a backup, the newest by default, and check every byte; exits with 1 if it is damaged')
    .option('--to <target>', TARGET)
    .action(async (name: string | undefined, options: { to?: string }, command: Command) => {
      const target = targetOf(group, options.to);
      const manifest = await readManifest(target, name ?? (await newest(target)));
      const problems = await verifyBackup(target, manifest);
      printResult(command, { name: manifest.name, problems }, (result) =>
        problems.length === 0 ? `backup ${result.name} is intact` : result.problems.join('\n'),
      );
      if (problems.length > 0) process.exitCode = 1;
    });

  group
    .command('record')
    .description(
      'record that a backup of servers, made by other tools, is complete now; the alert BackupOld counts from it',
    )
    .action(async (_options: object, command: Command) => {
      await record((await operatorConfig()).databaseUrl);
      printResult(command, { recorded: true }, () => 'recorded: the newest backup was completed now');
    });

  program
    .command('restore [name]')
    .description(
      'restore a backup, the newest by default, to an empty DATA_DIR; "npm start" then continues from it',
    )
    .option('--from <target>', TARGET)
    .option('--force', 'replace the content of DATA_DIR')
    .action(
      async (name: string | undefined, options: { from?: string; force?: boolean }, command: Command) => {
        const config = readConfig(process.env);
        const target = openTarget(options.from, config);
        const manifest = await readManifest(target, name ?? (await newest(target)));
        const { dataDir } = config;
        await restoreBackup(target, manifest, {
          dataDir,
          force: options.force === true,
          postgres: postgresMajor(),
        });
        printResult(
          command,
          { name: manifest.name, data_dir: dataDir, point_at: manifest.point_at },
          (result) =>
            `backup ${result.name} is restored to DATA_DIR=${dataDir}, as of ${result.point_at}: run "npm start"`,
        );
      },
    );
}

async function record(databaseUrl: string): Promise<void> {
  const pool = createPool(databaseUrl, { max: 1, name: 'hoplog-cli' });
  try {
    await recordBackup(pool);
  } finally {
    await pool.end();
  }
}

/** @throws {CommandFailed} unless a service with both embedded databases runs, and this user is its own or root */
async function embeddedConfig(): Promise<Config> {
  const { databaseUrl, clickhouseUrl, dataDir } = readConfig(process.env);
  if (databaseUrl !== '' || clickhouseUrl !== '') {
    throw new CommandFailed(
      'DATABASE_URL or CLICKHOUSE_URL names a server, and "hoplog backup" copies embedded databases: see docs/operations/backup.md',
    );
  }
  const config = await operatorConfig();
  const { uid } = statSync(dataDir);
  if (process.getuid !== undefined && ![0, uid].includes(process.getuid())) {
    throw new CommandFailed(`DATA_DIR=${dataDir} belongs to the user ${uid}: run the command as this user`);
  }
  return config;
}

/** @throws {CommandFailed} while another backup of this service runs */
async function exclusively<T>({ dataDir }: Config, work: () => Promise<T>): Promise<T> {
  const path = join(dataDir, 'run', 'backup.lock');
  const lock = lockFile(path);
  if (lock === null) throw new CommandFailed('another backup of this service is in progress');
  // Gives the lock file to the service's user, who may make backups too.
  if (process.getuid?.() === 0) chownSync(path, statSync(dataDir).uid, statSync(dataDir).gid);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/** The option is accepted before and after the subcommand. */
function targetOf(group: Command, own: string | undefined): FileTarget {
  return openTarget(own ?? group.opts<{ to?: string }>().to, readConfig(process.env));
}

async function newest(target: FileTarget): Promise<string> {
  const name = (await listBackups(target)).at(-1);
  if (name === undefined) throw new CommandFailed(`no complete backup in ${target.name}`);
  return name;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
