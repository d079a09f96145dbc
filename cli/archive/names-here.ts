import { createHash } from 'node:crypto';
import { SLUG_LIMIT, slugKey } from '../../core/links/slugs.ts';
import type { ImportContext } from '../../sql/archive/archived-table.ts';
import { hasWorkspaceSlug, takenLookups, takenNames } from '../../sql/archive/taken-names.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import type { OpenArchive } from './open-archive.ts';

/** A link, page or program on the deployment's own domain whose slug is taken here. */
export type Renamed = { kind: string; id: string; from: string; to: string };

/** What names of the archive become here. */
export type NamesHere = Pick<ImportContext, 'slugs' | 'keys' | 'dropped' | 'lookups' | 'workspace_slug'> & {
  renamed: Renamed[];
  /** Former addresses of links that are another workspace's here. */
  aliases: string[];
  /** API keys that don't work here. */
  keysLost: string[];
};

type SlugRow = { domain_number: number; slug: string; kind: string; target_id: string };

/** Longest slug of a bio page, and longest code of a program. */
const SHORT_LIMIT = 40;

/**
 * Finds the names of an archive that are taken here: slugs on the deployment's own domain, look-up ids of keys, the
 * workspace's own slug. A taken slug gets an ending that follows from its id, so that every run finds the same one.
 */
export async function namesHere(db: Queryable, archive: OpenArchive): Promise<NamesHere> {
  const { workspace } = archive.manifest;
  const names: NamesHere = {
    slugs: {},
    keys: {},
    dropped: [],
    lookups: {},
    workspace_slug: workspace.slug,
    renamed: [],
    aliases: [],
    keysLost: [],
  };
  for (const file of archive.part('slugs').files) {
    const rows = lines<SlugRow>(await archive.read(file)).filter(({ domain_number }) => domain_number === 0);
    const taken = await takenNames(
      db,
      workspace.id,
      rows.map(({ slug }) => slug),
    );
    for (const row of rows) if (taken.has(row.slug)) rename(names, row);
  }
  for (const file of archive.part('api_keys').files) {
    const keys = lines<{ lookup: string; kind: string; label: string }>(await archive.read(file));
    const taken = await takenLookups(
      db,
      keys.map(({ lookup }) => lookup),
    );
    for (const { lookup, kind, label } of keys.filter((key) => taken.has(key.lookup))) {
      names.lookups[lookup] = `taken-${ending(workspace.id + lookup)}`;
      names.keysLost.push(`${kind} key ${lookup} (${label})`);
    }
  }
  if (await hasWorkspaceSlug(db, workspace.slug)) {
    names.workspace_slug = `${workspace.slug}-${ending(workspace.id).toLowerCase()}`;
  }
  return names;
}

function rename(names: NamesHere, { slug, kind, target_id: id }: SlugRow): void {
  if (kind === 'alias' || kind === 'prefix') {
    names.dropped.push(slug);
    if (kind === 'alias') names.aliases.push(slug);
    return;
  }
  const end = `-${ending(id)}`;
  const most = kind === 'link' ? SLUG_LIMIT : SHORT_LIMIT;
  const begin = [...slug.replaceAll('/', '-')].slice(0, most - end.length).join('');
  const to = kind === 'bio_page' ? `${begin}${end}`.toLowerCase() : begin + end;
  names.slugs[id] = to;
  names.keys[`${id}/${slug}`] = slugKey(to);
  names.renamed.push({ kind, id, from: slug, to });
}

/** Five letters that follow from an id. */
function ending(id: string): string {
  const digits = createHash('sha256').update(id).digest('hex').slice(0, 8);
  return Number.parseInt(digits, 16).toString(36).padStart(5, '0').slice(-5);
}

/** Returns the rows of a file. */
export function lines<Row>(content: Buffer): Row[] {
  return content
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
}
