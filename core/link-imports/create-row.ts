import { createHash } from 'node:crypto';
import { isOnDomain } from '../links/destinations.ts';

/** The unvalidated create body of a row, and the file's names of its fields. */
export type CreateRow = {
  body: Record<string, unknown>;
  /** The file's name of a field, by the body's name. A missing field has the same name in both. */
  columnOf: Readonly<Record<string, string>>;
  /** The full short URL of this link, where a row has several. */
  printed?: string;
  /**
   * Whether the link is left out when the workspace lacks its domain, because the row has other links that were
   * published.
   */
  isSpare?: boolean;
};

/**
 * What becomes of rows on domains that are not proven: errors, links that wait for the proof, or links on another
 * domain.
 */
export const UNPROVEN_POLICIES = ['refuse', 'keep', 'move'] as const;
export type UnprovenPolicy = (typeof UNPROVEN_POLICIES)[number];

/** The domains of an import, in lower-case ASCII. */
export type ImportDomains = {
  /** Host of the deployment's own short links. */
  own: string;
  /** Proven ones of the workspace. */
  proven: readonly string[];
  /** Domain of rows that name none; null: the deployment's own; left out: the workspace's default. */
  standard?: string | null | undefined;
  unproven: UnprovenPolicy;
};

/** Settings that all rows of an import share. */
export type ImportDefaults = {
  /** The workspace's primary domain; null: none yet. */
  primaryDomain: string | null;
  domains: ImportDomains;
  /** Channel of rows without one: a channel's key, or a Smart Link. */
  channel: string | 'smart';
  /** Whether UTM parameters are added to destinations of rows that name none; left out: no. */
  appendUtm?: boolean;
};

/** Longest name of a campaign. */
export const NAME_LIMIT = 200;

/**
 * Fills in missing fields, so that a row means one link, also when it is imported twice.
 *
 * - A name on several lines becomes one line.
 * - A row without `slug` and `external_id` gets an `external_id` derived from its fields.
 * - A row without `channel`, `channels` and `smart` gets the default.
 * - Without `external`, a destination on the primary domain is the workspace's own, another is external. An import
 *   never sets the domain: the first link of an export is any link.
 * - A row that names no UTM parameter leaves its destination as it was.
 */
export function completeRow(row: Record<string, unknown>, defaults: ImportDefaults): Record<string, unknown> {
  const body = { ...row };
  if (typeof body.name === 'string') body.name = onOneLine(body.name);
  if (body.slug === undefined && body.external_id === undefined && namesOneLink(body)) {
    body.external_id = derivedId(body);
  }
  // Derived ids do not change with the case of a channel.
  if (typeof body.channel === 'string') body.channel = body.channel.trim().toLowerCase();
  if (Array.isArray(body.channels)) body.channels = body.channels.map(inLowerCase);
  if (body.append_utm === undefined && !defaults.appendUtm && !namesUtm(body)) body.append_utm = false;
  if (body.channel === undefined && body.channels === undefined && body.smart !== true) {
    if (defaults.channel === 'smart') body.smart = true;
    else body.channel = defaults.channel;
  }
  if (body.external === undefined && body.destination_id === undefined) {
    body.external = !isOwn(body.destination_url, defaults.primaryDomain);
  }
  return body;
}

const inLowerCase = (value: unknown) => (typeof value === 'string' ? value.trim().toLowerCase() : value);

function namesUtm(body: Record<string, unknown>): boolean {
  return ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'].some(
    (name) => body[name] !== undefined && body[name] !== null,
  );
}

/** Names are one line; titles of web pages, which other products store, may have several. */
const onOneLine = (name: string) => name.replace(/\s*[\t\r\n]+\s*/g, ' ').trim();

/**
 * Whether the row means one link. A campaign has one link per channel anyway, and several channels can't share an
 * `external_id`.
 */
function namesOneLink(body: Record<string, unknown>): boolean {
  const { destination_id, channels } = body;
  return destination_id === undefined && !(Array.isArray(channels) && channels.length > 1);
}

/**
 * Derives an id from the fields. The password is added later: otherwise anyone who reads the link could test passwords
 * against the id.
 */
function derivedId(body: Record<string, unknown>): string {
  const fields = Object.entries(body).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash('sha256').update(JSON.stringify(fields)).digest('hex');
  return `import-${hash.slice(0, 32)}`;
}

function isOwn(destination: unknown, domain: string | null): boolean {
  if (domain === null || typeof destination !== 'string') return false;
  return URL.canParse(destination) && isOnDomain(new URL(destination), domain);
}
