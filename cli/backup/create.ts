import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { createClickHouse } from '../../clickhouse/client.ts';
import { freezeTables } from '../../clickhouse/freeze.ts';
import type { FileTarget } from '../../core/file-targets/target.ts';
import type { Config } from '../../core/settings/config.ts';
import {
  type BackupPoint,
  beginBaseBackup,
  endBaseBackup,
  systemIdentifier,
} from '../../sql/database/base-backup.ts';
import { CommandFailed } from '../output.ts';
import { definitions, frozenParts } from './clickhouse-files.ts';
import { type HeldStream, holdJournals, journalFiles } from './journal-files.ts';
import { type Bundle, listBackups, type Manifest, nameAt, readManifest, writeManifest } from './manifest.ts';
import { type ObjectStore, openObjects, type SourceFile } from './objects.ts';
import { eachOf } from './parallel.ts';
import { postgresFiles, readControl, walFiles } from './postgres-files.ts';
import { FROZEN, removeUnfinished, workDirectories } from './restored.ts';

const FREEZE_MS = 120_000;
/** Files that are the same in every backup of a deployment, and secret. */
const PASSWORDS = ['postgres.password', 'clickhouse/password'];

export type CreatedBackup = {
  name: string;
  /** Size of all files, and of those stored by this backup. Bytes. */
  bytes: number;
  new_bytes: number;
  seconds: number;
};

/**
 * Backs up a running service on this machine, while clicks arrive:
 *
 * 1. PostgreSQL's files, in a base backup.
 * 2. With lanes locked for a moment: PostgreSQL's point, hard links of the journals, hard links of ClickHouse's parts.
 *    The journals hold every event that PostgreSQL does not know of. ClickHouse may have it too, as after a crash.
 * 3. The write-ahead log up to that point, and what was linked.
 * 4. The manifest, which makes the backup complete.
 *
 * @param config of the running service
 * @throws {CommandFailed} when the target belongs to another deployment
 */
export async function createBackup(
  config: Config,
  target: FileTarget,
  version: string,
): Promise<CreatedBackup> {
  const startedAt = Date.now();
  const data = join(config.dataDir, 'clickhouse', 'data');
  const { work, frozen } = workDirectories(config.dataDir);
  const connection = new pg.Client({
    connectionString: config.databaseOwnerUrl,
    application_name: 'hoplog-backup',
  });
  const clickhouse = createClickHouse({
    url: config.clickhouseUrl,
    database: config.clickhouseDatabase,
    timeoutMs: FREEZE_MS,
  });
  connection.on('error', () => {}); // the next query rejects
  removeUnfinished(config.dataDir);
  try {
    mkdirSync(work, { mode: 0o700 });
    await connection.connect();
    const deployment = await systemIdentifier(connection);
    const earlier = await newestOf(target, deployment);
    // A name has only seconds, so two backups of one second need a pause.
    while (earlier?.name === nameAt(new Date())) await delay(50);
    const beganAt = new Date();
    const objects = await openObjects(target);
    const postgres = join(config.dataDir, 'postgres');
    const firstSegment = await beginBaseBackup(connection);
    const ofPostgres = await postgresFiles(postgres, 'postgres');
    const bundles = await storeAll(objects, ofPostgres.groups);
    const control = textFile(work, 'postgres/global/pg_control', await readControl(postgres));

    let streams: HeldStream[] = [];
    let defined: ReturnType<typeof definitions> = { files: [], directories: [] };
    const point = await endBaseBackup(connection, firstSegment, async () => {
      streams = holdJournals(config.dataDir, join(work, 'journal'));
      await freezeTables(clickhouse, config.clickhouseDatabase, FROZEN);
      defined = definitions(data, join(work, 'clickhouse'));
    });
    bundles.push(
      ...(await storeAll(objects, [
        ...(await walFiles(postgres, 'postgres', point)).map((file) => [file]),
        [control, ...recoveryFiles(work, point)],
        defined.files,
        PASSWORDS.map((path) => ({ path, source: join(config.dataDir, path) })),
      ])),
    );
    await connection.end();
    const journals = await Promise.all(streams.map(journalFiles));
    bundles.push(
      ...(await storeAll(
        objects,
        journals.flat().map((file) => [file]),
      )),
    );
    bundles.push(...(await storeParts(objects, frozen, earlier)));

    const manifest: Manifest = {
      format: 1,
      name: nameAt(beganAt),
      version,
      postgres: readFileSync(join(postgres, 'PG_VERSION'), 'utf8').trim(),
      deployment,
      began_at: beganAt.toISOString(),
      point_at: point.pointAt.toISOString(),
      directories: [...ofPostgres.directories, ...defined.directories],
      bundles,
    };
    await writeManifest(target, manifest);
    return {
      name: manifest.name,
      bytes: sizeOf(manifest),
      new_bytes: objects.written(),
      seconds: (Date.now() - startedAt) / 1_000,
    };
  } finally {
    await Promise.allSettled([connection.end(), clickhouse.close()]);
    removeUnfinished(config.dataDir);
  }
}

/** Returns the bytes of all files of a backup, uncompressed. */
export function sizeOf({ bundles }: Pick<Manifest, 'bundles'>): number {
  return bundles.reduce((sum, { files }) => sum + files.reduce((all, [, bytes]) => all + bytes, 0), 0);
}

/** Returns the newest backup of the target, or null. @throws {CommandFailed} when it is of another deployment */
async function newestOf(target: FileTarget, deployment: string): Promise<Manifest | null> {
  const newest = (await listBackups(target)).at(-1);
  if (newest === undefined) return null;
  const manifest = await readManifest(target, newest);
  if (manifest.deployment !== deployment) {
    throw new CommandFailed(
      `${target.name} has backups of another deployment: choose another folder or prefix`,
    );
  }
  return manifest;
}

async function storeAll(objects: ObjectStore, groups: readonly SourceFile[][]): Promise<Bundle[]> {
  const bundles: Bundle[] = [];
  await eachOf(groups, async (files) => {
    bundles.push({ key: null, ...(await objects.store(files)) });
  });
  return bundles;
}

/** Stores the frozen parts, except those that the earlier backup has and the target still holds. */
async function storeParts(objects: ObjectStore, shadow: string, earlier: Manifest | null): Promise<Bundle[]> {
  const known = new Map(
    earlier?.bundles.flatMap((bundle) => (bundle.key === null ? [] : [[bundle.key, bundle]])),
  );
  const bundles: Bundle[] = [];
  await eachOf(frozenParts(shadow), async ({ key, files }) => {
    const kept = known.get(key);
    const isSame =
      kept?.files.length === files.length &&
      kept.files.every(([path, bytes], index) => {
        const file = files[index];
        return file?.path === path && statSync(file.source).size === bytes;
      });
    bundles.push(kept && isSame && objects.has(kept) ? kept : { key, ...(await objects.store(files)) });
  });
  return bundles;
}

function recoveryFiles(work: string, { backupLabel, tablespaceMap }: BackupPoint): SourceFile[] {
  const files = [textFile(work, 'postgres/backup_label', backupLabel)];
  if (tablespaceMap !== '') files.push(textFile(work, 'postgres/tablespace_map', tablespaceMap));
  return files;
}

/** Writes a file to the work directory. */
function textFile(work: string, path: string, content: string | Buffer): SourceFile {
  const source = join(work, path);
  if (!existsSync(dirname(source))) mkdirSync(dirname(source), { recursive: true, mode: 0o700 });
  writeFileSync(source, content, { mode: 0o600 });
  return { path, source };
}
