import { type ReplicasToWrite, wholeReplica, writeToEach } from '../../analytics/replicas/write-to-each.ts';
import { ARCHIVED_EVENTS } from '../../clickhouse/archive/archived-tables.ts';
import { removeEvents, writeEvents } from '../../clickhouse/archive/write-events.ts';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { REPAIRED_TOKENS } from '../../clickhouse/copies/copy-missed.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import { storedColumns } from '../../clickhouse/stored-columns.ts';
import type { LookUpTxt } from '../../core/dns/txt-records.ts';
import type { Config } from '../../core/settings/config.ts';
import type { ImportContext } from '../../sql/archive/archived-table.ts';
import { ARCHIVED_TABLES } from '../../sql/archive/archived-tables.ts';
import { rowsOfOthers } from '../../sql/archive/check-references.ts';
import { negativeNumbers, reserveNumbers } from '../../sql/archive/numbers.ts';
import { archivedColumns } from '../../sql/archive/read-table.ts';
import { chainTable, rechain } from '../../sql/archive/rechain.ts';
import {
  beginWorkspaceImport,
  finishWorkspaceImport,
  type WorkspaceImport,
  workspaceImport,
} from '../../sql/archive/workspace-imports.ts';
import {
  announceWorkspace,
  beginImport,
  keepFormerCodes,
  queueOrders,
  writeTable,
} from '../../sql/archive/write-table.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import { rolledBack } from '../../sql/database/rolled-back.ts';
import { replicaNames } from '../../sql/event-log/replica-lanes.ts';
import { recordMissed } from '../../sql/event-log/replica-repairs.ts';
import { workspaceById } from '../../sql/workspaces/workspaces.ts';
import { CommandFailed } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { type DomainsHere, domainsHere } from './domains-here.ts';
import type { ArchivePart } from './manifest.ts';
import { type NamesHere, namesHere } from './names-here.ts';
import type { OpenArchive } from './open-archive.ts';

export type ArchiveImportOptions = {
  pool: Pool;
  clickhouses: ReplicasToWrite;
  config: Pick<Config, 'shortUrl' | 'publicUrl' | 'baseUrl' | 'appUrl'>;
  lookUp: LookUpTxt;
  archive: OpenArchive;
  /** `keep`: links on domains that are not proven here respond once they are. */
  unproven: 'refuse' | 'keep';
  dryRun: boolean;
  onBytes?: (bytes: number) => void;
};

export type ArchiveImportResult = {
  dry_run: boolean;
  /** The archive was imported before: nothing was added. */
  is_there: boolean;
  workspace: { id: string; name: string; slug: string };
  /** Rows added, by table; of a dry run, those that would be. */
  tables: Record<string, number>;
  renamed: NamesHere['renamed'];
  unproven: DomainsHere['unproven'];
  not_taken_over: { what: string; why: string }[];
};

/**
 * Imports an archive. Events are stored first: ClickHouse has no transactions, and a file of them that is there already
 * is skipped. Then one transaction of PostgreSQL adds everything else, so that the workspace appears at once and whole.
 *
 * @throws {CommandFailed} when the archive does not fit this deployment: then nothing was stored
 */
export async function importArchive(options: ArchiveImportOptions): Promise<ArchiveImportResult> {
  const { pool, clickhouses, archive, dryRun, lookUp, config } = options;
  const { manifest } = archive;
  const { clickhouse } = await wholeReplica(pool, clickhouses.replicas);
  await requireKnown(pool, clickhouse, archive);
  const former = await workspaceImport(pool, manifest.workspace.id);
  const present = await workspaceById(pool, manifest.workspace.id);
  if (present !== null) {
    if (former?.finished_at && former.archive_id === manifest.id) return isThere(options, present.slug);
    throw new CommandFailed(
      former === null
        ? `the workspace ${manifest.workspace.slug} (${present.id}) belongs to this deployment: import the archive into another deployment`
        : `the workspace ${present.slug} (${present.id}) was imported from another archive already`,
    );
  }
  const domains = await domainsHere(pool, archive, lookUp, config);
  if (domains.unproven.length > 0 && options.unproven === 'refuse') throw new CommandFailed(refusal(domains));
  const names = await namesHere(pool, archive);
  const offsets = dryRun ? negativeNumbers(manifest.numbers) : await numbersHere(options, former);
  const context: ImportContext = {
    ...names,
    workspace_id: manifest.workspace.id,
    offsets,
    proven: domains.proven,
  };
  const stored = dryRun ? [] : await writeFiles(options, clickhouse, offsets.leads);
  const tables = await writeRows(options, context, names, stored);
  return {
    dry_run: dryRun,
    is_there: false,
    workspace: { ...manifest.workspace, slug: names.workspace_slug },
    tables: { ...tables, ...eventCounts(archive) },
    renamed: names.renamed,
    unproven: domains.unproven,
    not_taken_over: notTakenOver(archive, names),
  };
}

/** @throws {CommandFailed} when the archive has tables or columns that this release does not know */
async function requireKnown(
  db: Queryable,
  clickhouse: ClickHouseClient,
  { manifest }: OpenArchive,
): Promise<void> {
  for (const { table, store, columns } of manifest.parts) {
    const known =
      store === 'postgresql' ? await columnsOf(db, table) : await columnsOfEvents(clickhouse, table);
    const stranger = columns.find((column) => !known.includes(column));
    if (known.length > 0 && stranger === undefined) continue;
    throw new CommandFailed(
      `the archive has ${known.length === 0 ? table : `${table}.${stranger}`}, which this release does not know: ` +
        `it was made by Hoplog ${manifest.made_by}; upgrade this deployment first`,
    );
  }
}

async function columnsOf(db: Queryable, name: string): Promise<string[]> {
  const table = ARCHIVED_TABLES.find((one) => one.name === name);
  return table === undefined ? [] : archivedColumns(db, table);
}

async function columnsOfEvents(clickhouse: ClickHouseClient, name: string): Promise<string[]> {
  const table = ARCHIVED_EVENTS.find((one) => one.name === name);
  return table === undefined ? [] : (await storedColumns(clickhouse, table)).map((column) => column.name);
}

function refusal({ unproven }: DomainsHere): string {
  const each = unproven.map(({ domain, why }) => `  ${domain}: ${why}`);
  return [
    'the workspace has domains that are not proven here:',
    ...each,
    'set the records first, or give --unproven keep: links on these domains then respond as soon as they are proven',
  ].join('\n');
}

/**
 * Returns the offsets of the archive's numbers: those of its interrupted import, or new ones. What an interrupted
 * import of another archive of the workspace stored is removed.
 */
async function numbersHere(
  { pool, clickhouses, archive }: ArchiveImportOptions,
  former: WorkspaceImport | null,
): Promise<ImportContext['offsets']> {
  const { id, workspace, numbers } = archive.manifest;
  if (former?.archive_id === id) return former.offsets;
  if (former !== null) await removeFromEach(pool, clickhouses.replicas, workspace.id);
  return inTransaction(pool, async (tx) => {
    const offsets = await reserveNumbers(tx, numbers);
    await beginWorkspaceImport(tx, { workspace_id: workspace.id, archive_id: id, offsets });
    return offsets;
  });
}

/** @throws {CommandFailed} when a replica does not do it: what stays there would be in the workspace */
async function removeFromEach(
  db: Queryable,
  replicas: readonly Replica[],
  workspaceId: string,
): Promise<void> {
  const unknown = (await replicaNames(db)).filter((name) => replicas.every((one) => one.name !== name));
  if (unknown.length > 0 && replicas.length > 1)
    throw new CommandFailed(`CLICKHOUSE_REPLICAS has no ${unknown.join(', ')}: add it, or drop the replica`);
  for (const { name, clickhouse } of replicas) {
    await removeEvents(clickhouse, workspaceId).catch((error: unknown) => {
      if (replicas.length === 1) throw error;
      throw new CommandFailed(
        `what an interrupted import stored can't be removed from replica ${name}: run the command again when it responds`,
        { cause: error },
      );
    });
  }
}

/**
 * Stores the files in each replica. One that misses a file gets no later one.
 *
 * @param first a replica whose columns are those of all
 * @returns the replicas that have all files
 */
async function writeFiles(
  { pool, clickhouses, archive, onBytes }: ArchiveImportOptions,
  first: ClickHouseClient,
  leads: number,
): Promise<string[]> {
  const { id, workspace } = archive.manifest;
  const all = await replicaNames(pool);
  let stored = all;
  for (const table of ARCHIVED_EVENTS) {
    const { files, columns } = archive.part(table.name);
    const known = await storedColumns(first, table);
    for (const file of files) {
      const content = await archive.read(file);
      const except = all.filter((name) => !stored.includes(name));
      const written = await writeToEach(pool, clickhouses, {
        what: 'an imported workspace',
        except,
        write: (clickhouse, signal) =>
          writeEvents(clickhouse, table, {
            ...{ workspaceId: workspace.id, known, columns, content, span: file.span, leads, signal },
            token: `${REPAIRED_TOKENS.archive}${id}/${file.name}`,
          }),
      });
      stored = stored.filter((name) => written.includes(name));
      onBytes?.(file.bytes);
    }
  }
  return stored;
}

function writeRows(
  { pool, archive, dryRun, onBytes }: ArchiveImportOptions,
  context: ImportContext,
  names: NamesHere,
  stored: readonly string[],
): Promise<Record<string, number>> {
  const { workspace } = archive.manifest;
  const run = dryRun ? rolledBack : inTransaction;
  return run(pool, async (tx) => {
    await beginImport(tx);
    const tables: Record<string, number> = {};
    for (const table of ARCHIVED_TABLES) {
      const part = archive.part(table.name);
      const name = table.name === 'ledger_chain' ? await chainTable(tx, context.offsets) : table.name;
      tables[table.name] = await writeTable(
        tx,
        { ...table, name },
        part.columns,
        linesOf(archive, part, onBytes),
        context,
      );
    }
    const strangers = await rowsOfOthers(tx, workspace.id, tables);
    if (strangers !== null)
      throw new CommandFailed(`the archive has rows of ${strangers} that belong to another workspace`);
    await rechain(tx, workspace.id, context.offsets);
    await queueOrders(tx, workspace.id);
    await announceWorkspace(tx, workspace.id);
    const former = names.renamed.filter(({ kind }) => kind === 'link');
    await keepFormerCodes(
      tx,
      workspace.id,
      former.map(({ id, from }) => ({ id, slug: from })),
    );
    if (dryRun) return tables;
    await finishWorkspaceImport(tx, workspace.id);
    await recordMissed(tx, { stored, of: [{ work: 'workspace_imports', subject: workspace.id }] });
    await recordOperator(tx, {
      workspaceId: workspace.id,
      action: 'workspace.import',
      target: { type: 'workspace', id: workspace.id },
      details: { archive: archive.manifest.id, made_at: archive.manifest.made_at },
    });
    return tables;
  });
}

async function* linesOf(
  archive: OpenArchive,
  { files }: ArchivePart,
  onBytes: ((bytes: number) => void) | undefined,
): AsyncGenerator<string[]> {
  for (const file of files) {
    const text = (await archive.read(file)).toString();
    yield text.split('\n').filter((line) => line !== '');
    onBytes?.(file.bytes);
  }
}

function eventCounts(archive: OpenArchive): Record<string, number> {
  return Object.fromEntries(ARCHIVED_EVENTS.map(({ name }) => [name, archive.part(name).rows]));
}

function notTakenOver({ manifest }: OpenArchive, names: NamesHere): ArchiveImportResult['not_taken_over'] {
  const counted = manifest.left_out.map(({ what, rows, why }) => ({ what: `${what} (${rows})`, why }));
  const aliases = names.aliases.map((slug) => ({
    what: `the former address /${slug} of a link`,
    why: 'another workspace has it here',
  }));
  const keys = names.keysLost.map((what) => ({ what, why: 'its look-up id is taken here: make a new one' }));
  return [...counted, ...aliases, ...keys];
}

function isThere({ archive, dryRun }: ArchiveImportOptions, slug: string): ArchiveImportResult {
  const tables = Object.fromEntries(archive.manifest.parts.map(({ table }) => [table, 0]));
  return {
    dry_run: dryRun,
    is_there: true,
    workspace: { ...archive.manifest.workspace, slug },
    tables,
    renamed: [],
    unproven: [],
    not_taken_over: [],
  };
}
