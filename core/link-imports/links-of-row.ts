import { AppError } from '../errors.ts';
import { requireDomain } from '../links/domains.ts';
import { type CreateRow, completeRow, type ImportDefaults, type ImportDomains } from './create-row.ts';
import type { Format } from './formats/format.ts';
import { hostOfRow, ONLY_ID, type RowHost, slugOfShortUrl } from './meaning/address.ts';
import { carriedOf, folderOf } from './meaning/carried.ts';
import { LINK_NAMES, SLUGS } from './meaning/link-names.ts';
import { passwordOf, refuseSaidPassword } from './meaning/password.ts';
import { refuseMissingRules, stateOf } from './meaning/state.ts';
import { objectIn } from './nested-values.ts';
import { repetitionIn } from './repeated-names.ts';
import { RowProblem, refuseContradictions, type SourceRow, textOf } from './source-row.ts';

/** A link of a row, with the body of its create. */
export type RowLink = Pick<CreateRow, 'body' | 'columnOf'> & {
  /** The link in the words of the file: its short URL, or its slug; null: the row has neither. */
  link: string | null;
  /** The password's hash in another service. */
  passwordHash: string | null;
  /** Name of the campaign's folder. */
  folder: string | null;
  /** The unproven domain whose proof the link waits for. */
  unproven: string | null;
};

/** The problem of a row, or of one of its links. */
export type LinkProblem = { link: string | null; problem: RowProblem };

/**
 * Reads a row of any format. What decides whether and where a link opens is read here, the same way for all formats.
 * The format's own code reads the rest.
 */
export function linksOfRow(
  row: SourceRow,
  format: Format,
  defaults: ImportDefaults,
): { links: RowLink[]; problems: LinkProblem[] } {
  const links: RowLink[] = [];
  const problems: LinkProblem[] = [];
  const attempt = (link: string | null, read: () => void) => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error;
      problems.push({ link, problem: error });
    }
  };
  const withSlug = (one: CreateRow) => {
    if (typeof one.body.slug === 'string' && one.body.slug !== '') return one;
    const slug = slugOfShortUrl(row) ?? textOf(row, ...SLUGS);
    return slug === null ? one : { ...one, body: { ...one.body, slug } };
  };
  attempt(nameOfRow(row), () => {
    refuseBrokenText(row);
    refuseContradictions(row);
    refuseRepeatedInCells(row);
    const password = passwordOf(row);
    const state = stateOf(row);
    const read = withoutSpare(row, format.read(row).map(withSlug), defaults.domains);
    for (const one of read) {
      const link = one.printed ?? nameOfRow(row) ?? slugOf(one);
      attempt(link, () => {
        refuseMissingRules(row, one.body);
        const host = hostOfRow(row, one.body.slug, one.printed);
        const place = placeOf(host, one, defaults.domains);
        const carried = carriedOf(row, one.body);
        const fields = { ...state.body, ...carried, ...one.body, ...state.left, ...metadataOf(carried) };
        const body = completeRow({ ...fields, ...place.body }, defaults);
        const columnOf = {
          ...state.columnOf,
          ...one.columnOf,
          domain: host?.column ?? 'domain',
          password: password?.column ?? 'password',
        };
        const folder = folderOf(row);
        refuseSaidPassword(row);
        links.push({
          body: password && 'clear' in password ? { ...body, password: password.clear } : body,
          columnOf,
          link,
          passwordHash: password && 'hash' in password ? password.hash : null,
          folder,
          unproven: place.unproven,
        });
      });
    }
  });
  return { links, problems };
}

/** The metadata that the format has read, if any. */
const metadataOf = ({ metadata }: Record<string, unknown>) => (metadata === undefined ? {} : { metadata });

/** Leaves out the spare names whose domain the workspace does not have; see {@link CreateRow}. */
function withoutSpare(row: SourceRow, read: CreateRow[], domains: ImportDomains): CreateRow[] {
  const hostOf = (one: CreateRow) => hostOfRow(row, one.body.slug, one.printed)?.host ?? null;
  const published = new Set(read.filter(({ isSpare }) => !isSpare).map(hostOf));
  return read.filter((one) => {
    if (!one.isSpare) return true;
    const host = hostOf(one);
    return isHere(host, domains) || (domains.unproven === 'keep' && published.has(host));
  });
}

const isHere = (host: string | null, { own, proven }: ImportDomains) =>
  host !== null && (host === own || proven.includes(host));

/** Returns the domain of a link. In a body, null is the deployment's own, and undefined the workspace's default. */
function placeOf(
  host: RowHost | null,
  { body }: CreateRow,
  domains: ImportDomains,
): { body: { domain?: string | null }; unproven: string | null } {
  const standard = domains.standard === undefined ? {} : { domain: domains.standard };
  if (host === null) return { body: body.domain === null ? { domain: null } : standard, unproven: null };
  if (host.host === null) {
    if (domains.unproven === 'move') return { body: standard, unproven: null };
    throw new RowProblem(host.column, ONLY_ID);
  }
  if (host.host === domains.own) return { body: { domain: null }, unproven: null };
  if (domains.proven.includes(host.host)) return { body: { domain: host.host }, unproven: null };
  if (domains.unproven === 'move') return { body: standard, unproven: null };
  if (domains.unproven === 'keep')
    return { body: { domain: host.host }, unproven: requireProvable(host.column, host.host) };
  throw new RowProblem(
    host.column,
    `${host.host} is not a verified domain of the workspace: verify it first, keep the row until it is (\`unproven\`: keep), or make the link on another domain (\`unproven\`: move)`,
  );
}

function requireProvable(column: string, host: string): string {
  try {
    return requireDomain(host, []);
  } catch (error) {
    if (error instanceof AppError) throw new RowProblem(column, error.details?.[0]?.message ?? error.message);
    throw error;
  }
}

const NAME_LIMIT = 200;

/** Returns how an error names the link of a row; null: the row has no name for it. */
function nameOfRow(row: SourceRow): string | null {
  return textOf(row, ...LINK_NAMES)?.slice(0, NAME_LIMIT) ?? null;
}

const slugOf = ({ body }: CreateRow) => (typeof body.slug === 'string' ? body.slug : null);

function refuseRepeatedInCells(row: SourceRow): void {
  for (const [column, value] of Object.entries(row.values)) {
    const inner = typeof value === 'string' ? objectIn(value) : null;
    const repeated = inner === null ? null : repetitionIn(String(value), inner);
    if (repeated !== null) throw new RowProblem(`${column}.${repeated.column}`, repeated.message);
  }
}

function refuseBrokenText(row: SourceRow): void {
  for (const [column, value] of Object.entries(row.values)) {
    if (typeof value === 'string' && value.includes('\uFFFD')) {
      throw new RowProblem(column, 'holds characters that are not UTF-8: save the file as UTF-8');
    }
  }
}
