import { fileURLToPath } from 'node:url';
import { type ImportOptions, type ImportResult, importLinks } from '../../api/link-imports/import-links.ts';
import { openTextFile, readText } from '../../cli/import/text-file.ts';
import { csvRows } from '../../core/link-imports/csv-rows.ts';
import { jsonRows } from '../../core/link-imports/json-rows.ts';
import { type Link, listLinks } from '../../sql/links/links.ts';
import { createWorkspace, updateWorkspace, type Workspace } from '../../sql/workspaces/workspaces.ts';
import type { TestStores } from './stores.ts';

/** Origins of a deployment. */
const ORIGINS = {
  shortUrl: 'https://hop.example',
  publicUrl: 'https://hop.example',
  baseUrl: 'https://api.hop.example',
  appUrl: 'https://app.hop.example',
};

export type Rows = ImportOptions['rows'];

/** A workspace to import into, with the domain `shop.example` by default; null: none. */
export type ImportTarget = {
  workspace: Workspace;
  importRows(rows: Rows, more?: Partial<ImportOptions>): Promise<ImportResult>;
  /** Up to 500, oldest first. */
  links(): Promise<Link[]>;
};

/** Removes every link first: slugs are unique across workspaces, and another test's would conflict. */
export async function importTarget(
  stores: TestStores,
  domain: string | null = 'shop.example',
): Promise<ImportTarget> {
  await stores.pool.query('DELETE FROM links; DELETE FROM destinations; DELETE FROM slugs');
  return anotherTarget(stores, domain);
}

/** Creates another workspace. */
export async function anotherTarget(
  { pool }: TestStores,
  domain: string | null = 'shop.example',
): Promise<ImportTarget> {
  const made = await createWorkspace(pool, { name: 'Shop', plan: 'unlimited' });
  const set = domain === null ? null : await updateWorkspace(pool, made.id, { primary_domain: domain });
  const workspace = set ?? made;
  return {
    workspace,
    importRows: (rows, more = {}) =>
      importLinks({
        pool,
        workspaceId: workspace.id,
        config: ORIGINS,
        primaryDomain: workspace.primary_domain,
        // Files of other services name domains of these services.
        domains: { own: 'hop.example', proven: [], unproven: 'move' },
        channel: 'other',
        rows,
        onFormat: () => undefined,
        onProgress: () => undefined,
        ...more,
      }),
    async links() {
      const all = {
        ids: null,
        channel: null,
        domain: null,
        destinationId: null,
        slugPart: null,
        externalId: null,
        before: null,
        withArchived: true,
      };
      return (await listLinks(pool, workspace.id, { ...all, limit: 500 })).toReversed();
    },
  };
}

/** Returns the rows of a file in `core/link-imports/fixtures/`. */
export async function fixture(name: string): Promise<Rows> {
  const file = await openTextFile(fixturePath(name));
  const text = readText(file, () => undefined);
  return file.content.kind === 'json' ? jsonRows(text) : csvRows(text, file.content);
}

export function fixturePath(name: string): string {
  return fileURLToPath(new URL(`../../core/link-imports/fixtures/${name}`, import.meta.url));
}

/** Returns the rows of a CSV with commas. */
export function csv(...lines: string[]): Rows {
  async function* text() {
    yield lines.join('\n');
  }
  return csvRows(text(), { delimiter: ',', firstLine: 1 });
}
