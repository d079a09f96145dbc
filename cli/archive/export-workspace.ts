import { ARCHIVED_EVENTS } from '../../clickhouse/archive/archived-tables.ts';
import { readEvents } from '../../clickhouse/archive/read-events.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import { storedColumns } from '../../clickhouse/stored-columns.ts';
import { uuidv7 } from '../../core/ids.ts';
import { type ArchivedTable, NUMBERED, type Numbered } from '../../sql/archive/archived-table.ts';
import { ARCHIVED_TABLES, LEFT_OUT } from '../../sql/archive/archived-tables.ts';
import { numberRanges } from '../../sql/archive/numbers.ts';
import {
  archivedColumns,
  beginExport,
  countLeftOut,
  countWithout,
  newestEvents,
  readTable,
  rowsOf,
} from '../../sql/archive/read-table.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import { replicaWatermark } from '../../sql/event-log/replica-marks.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import { type ArchiveWriter, createArchive } from './archive-writer.ts';
import {
  ARCHIVE_VERSION,
  type ArchiveFile,
  type ArchivePart,
  CHECKSUM_FILE,
  FORMAT_FILE,
  type LeftOut,
  MANIFEST_FILE,
  type Manifest,
} from './manifest.ts';
import { sha256 } from './open-archive.ts';

/** A file of rows is cut at this many characters. */
const FILE_LENGTH = 2_000_000;

export type ExportOptions = {
  pool: Pool;
  /** Has missed no write, and may be behind the log. */
  replica: Replica;
  workspace: Workspace;
  /** Origin of the deployment's short links. */
  shortUrl: string;
  /** Hoplog's version. */
  version: string;
  path: string;
  onRows?: (table: string, rows: number) => void;
};

/**
 * Writes everything of a workspace into one archive, from one snapshot of PostgreSQL; clicks are those before the
 * watermark. Only one file of the archive is in memory at once.
 *
 * @throws {CommandFailed} when the file exists or can't be written
 */
export async function exportWorkspace(options: ExportOptions): Promise<Manifest> {
  const writer = await createArchive(options.path);
  try {
    const manifest = await write(writer, options);
    await writer.finish();
    return manifest;
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

async function write(writer: ArchiveWriter, options: ExportOptions): Promise<Manifest> {
  const { pool, replica, workspace, shortUrl, version } = options;
  const { clickhouse } = replica;
  const format = { format: 'hoplog-workspace', version: ARCHIVE_VERSION };
  await writer.add(FORMAT_FILE, Buffer.from(`${JSON.stringify(format)}\n`));
  const parts: ArchivePart[] = [];
  const read = await inTransaction(pool, async (tx) => {
    await beginExport(tx);
    // Everything older is visible in the replica, and its orders are in this snapshot.
    const before = (await replicaWatermark(tx, replica.name)) ?? Date.now() * 1_000;
    const numbers = await numberRanges(tx, workspace.id, numberedRows);
    for (const table of ARCHIVED_TABLES) parts.push(await writeTable(writer, tx, table, options));
    return {
      before,
      numbers,
      left_out: await leftOut(tx, workspace.id),
      limits: await newestEvents(tx, workspace.id),
    };
  });
  const limits = { workspaceId: workspace.id, before: read.before, ...read.limits };
  for (const table of ARCHIVED_EVENTS) {
    const columns = await storedColumns(clickhouse, table);
    const files: ArchiveFile[] = [];
    for await (const { content, ...about } of readEvents(clickhouse, table, columns, limits)) {
      files.push(await writer.add(`clickhouse/${table.name}/${numbered(files)}.parquet`, content, about));
      options.onRows?.(table.name, about.rows);
    }
    const names = columns.map(({ name }) => name);
    parts.push({ table: table.name, store: 'clickhouse', columns: names, rows: sum(files), files });
  }
  const manifest: Manifest = {
    id: uuidv7(),
    version: ARCHIVE_VERSION,
    made_by: version,
    made_at: new Date().toISOString(),
    short_url: shortUrl,
    workspace: { id: workspace.id, name: workspace.name, slug: workspace.slug },
    clicks_before: new Date(Math.floor(read.before / 1_000)).toISOString(),
    numbers: read.numbers,
    parts,
    left_out: read.left_out,
  };
  const text = Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`);
  await writer.add(MANIFEST_FILE, text);
  await writer.add(CHECKSUM_FILE, Buffer.from(`${sha256(text)}\n`));
  return manifest;
}

const numbered = (files: readonly unknown[]) => String(files.length + 1).padStart(6, '0');
const sum = (files: readonly ArchiveFile[]) => files.reduce((total, { rows }) => total + rows, 0);

const tableNamed = new Map(ARCHIVED_TABLES.map((table) => [table.name, table]));

function numberedRows(name: Numbered): string {
  const table = tableNamed.get(name);
  if (table?.numbers?.[NUMBERED[name]] !== name) throw new Error(`${name} has no numbers in the archive`);
  return rowsOf(table);
}

async function writeTable(
  writer: ArchiveWriter,
  tx: Queryable,
  table: ArchivedTable,
  { workspace, onRows }: ExportOptions,
): Promise<ArchivePart> {
  const files: ArchiveFile[] = [];
  let lines: string[] = [];
  let length = 0;
  const flush = async () => {
    if (lines.length === 0) return;
    const name = `postgresql/${table.name}/${numbered(files)}.ndjson`;
    const content = Buffer.from(`${lines.join('\n')}\n`);
    files.push(await writer.add(name, content, { rows: lines.length, span: null }));
    onRows?.(table.name, lines.length);
    lines = [];
    length = 0;
  };
  for await (const page of readTable(tx, table, workspace.id)) {
    for (const line of page) {
      lines.push(line);
      length += line.length;
      if (length >= FILE_LENGTH) await flush();
    }
  }
  await flush();
  const columns = await archivedColumns(tx, table);
  return { table: table.name, store: 'postgresql', columns, rows: sum(files), files };
}

/** Returns what the archive leaves out of the workspace. */
async function leftOut(tx: Queryable, workspaceId: string): Promise<LeftOut[]> {
  const found: LeftOut[] = [];
  for (const [table, why] of Object.entries(LEFT_OUT)) {
    found.push({ what: table, rows: await countLeftOut(tx, table, workspaceId), why });
  }
  for (const table of ARCHIVED_TABLES) {
    for (const [column, why] of Object.entries(table.without ?? {})) {
      const rows = await countWithout(tx, table, column, workspaceId);
      found.push({ what: `${table.name}.${column}`, rows, why });
    }
  }
  return found.filter(({ rows }) => rows > 0);
}
