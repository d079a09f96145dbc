import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { exportWorkspace } from '../../cli/archive/export-workspace.ts';
import { type ArchiveImportOptions, importArchive } from '../../cli/archive/import-workspace.ts';
import { type OpenArchive, openArchive } from '../../cli/archive/open-archive.ts';
import { readConfig } from '../../core/settings/config.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { workspaceById } from '../../sql/workspaces/workspaces.ts';
import { merchant, PAID_AT_ONCE } from '../referrals/support.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import type { TestStores } from '../support/stores.ts';
import { plantVictim } from '../support/victim.ts';

/** The record of the domain of {@link plantWorkspace}. */
export const PROOFS = { '_hoplog.go.victim.example': ['hoplog-verification=test'] };

/** A directory with the archives of one test file. */
export function archives() {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-archives-'));
  let made = 0;
  const unused = () => join(directory, `${++made}.tar`);
  return {
    unused,
    /** Exports a workspace and returns the archive's path. */
    async write(stores: Pick<TestStores, 'pool' | 'clickhouse'>, workspaceId: string): Promise<string> {
      const path = unused();
      const workspace = await workspaceById(stores.pool, workspaceId);
      if (workspace === null) throw new Error(`there is no workspace ${workspaceId}`);
      const { pool, clickhouse } = stores;
      await exportWorkspace({
        pool,
        replica: { name: 'main', clickhouse },
        workspace,
        shortUrl: 'https://hop.example',
        version: '0',
        path,
      });
      return path;
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Imports an archive as the command does. `proofs`: values of the TXT records of each name. */
export async function importFrom(
  path: string,
  { pool, clickhouse }: Pick<TestStores, 'pool' | 'clickhouse'>,
  options: Partial<ArchiveImportOptions> & { proofs?: Readonly<Record<string, readonly string[]>> } = {},
) {
  const { proofs = {}, ...more } = options;
  const archive = await openArchive(path, () => {});
  try {
    return await importArchive({
      pool,
      clickhouses: { replicas: [{ name: 'main', clickhouse }], log: silentLogger() },
      config: readConfig({ SHORT_URL: 'https://new.example' }),
      lookUp: async (name) => ({ kind: 'records', values: [...(proofs[name] ?? [])] }),
      archive,
      unproven: 'refuse',
      dryRun: false,
      ...more,
    });
  } finally {
    await archive.close();
  }
}

/** Returns the time before which an archive has clicks. */
export async function clicksBefore(path: string): Promise<string> {
  return withArchive(path, async ({ manifest }) => manifest.clicks_before);
}

/** Returns what an archive has: for each table its columns, rows, and each file with its hash. */
export async function contentOf(path: string): Promise<Record<string, unknown>> {
  return withArchive(path, async ({ manifest }) =>
    Object.fromEntries(manifest.parts.map(({ table, ...part }) => [table, part])),
  );
}

/** Returns the rows of a table of PostgreSQL in an archive. */
export async function rowsIn(path: string, table: string): Promise<Record<string, unknown>[]> {
  return withArchive(path, async (archive) => {
    const rows: Record<string, unknown>[] = [];
    for (const file of archive.part(table).files) {
      const lines = (await archive.read(file)).toString().trim().split('\n');
      rows.push(...lines.map((line) => JSON.parse(line) as Record<string, unknown>));
    }
    return rows;
  });
}

async function withArchive<T>(path: string, work: (archive: OpenArchive) => Promise<T>): Promise<T> {
  const archive = await openArchive(path, () => {});
  try {
    return await work(archive);
  } finally {
    await archive.close();
  }
}

/** Fills a workspace: one of everything, and a ledger with payouts and refunds. */
export async function plantWorkspace(api: TestApi, workspace: TestWorkspace): Promise<void> {
  await plantVictim(api, workspace);
  const m = merchant(workspace);
  const { partner_id, programId } = await m.referral({ ...PAID_AT_ONCE, levels: [5] });
  await m.mode('r', 'affiliate');
  await m.purchase('n', 'o-1', 100);
  await m.purchase('n', 'o-2', 60);
  const { id } = await m.exportPayouts(`?program_id=${programId}`);
  expect((await m.pay(id, { partner_ids: [partner_id] })).body.paid).toBe(1);
  await m.refund('f-1', 'o-2', 30);
  await m.purchase('n', 'o-3', 10);
}
