import { randomInt } from 'node:crypto';
import { uuidToBytes } from '../../core/ids.ts';
import type { LinkRule, SplitVariant } from '../../core/links/rules/types.ts';
import type { LinkTableRow, OtherSlugRow, WorkspacePolicyRow } from '../../sql/links/link-table.ts';
import type { Retargeting, Targeting } from '../../sql/links/links.ts';
import { policySlug, type WorkspacePolicy } from './workspace-policies.ts';

/**
 * The table's records, in memory and on disk: `u8 kind | 16 bytes id | 16 bytes workspace | u8 slug length | slug |
 * fields`. A link's fields are UTF-8 texts separated by NUL (which PostgreSQL's texts can't contain), empty for null,
 * without empty ones at the end. A page's only field is its content as JSON, empty while it is not published.
 */

/** What a slug names. */
export type SlugKind = 'link' | 'bio_page' | 'program' | 'workspace';

export type LinkRecord = {
  kind: 'link';
  id: Uint8Array;
  workspaceId: Uint8Array;
  slug: string;
  destination: string;
  /** Null: a Smart Link. */
  channel: string | null;
  utmSource: string | null;
  utmMedium: string | null;
  utmCampaign: string | null;
  extraQuery: string | null;
  settings: LinkRecordSettings;
};

/** Settings that few links have. */
export type LinkRecordSettings = {
  targeting?: Targeting;
  rules?: LinkRule[];
  split?: SplitVariant[];
  /** Id of the variant that all visitors get. */
  winner?: string;
  /** Milliseconds since the epoch. */
  expiresAt?: number;
  maxClicks?: number;
  expiredRedirectUrl?: string;
  passwordHash?: string;
  retargeting?: Retargeting;
  /** By the operator. */
  blocked?: true;
};

/** A page, a program or the policy of a workspace; its slug is in lower case. */
export type OtherRecord = {
  kind: 'bio_page' | 'program' | 'workspace';
  id: Uint8Array;
  workspaceId: Uint8Array;
  slug: string;
  /** JSON of a page's `PublicPage` or of a `WorkspacePolicy`; empty for an unpublished page and for a program. */
  content: string;
};

export type SlugRecord = LinkRecord | OtherRecord;

const KINDS = ['link', 'bio_page', 'program', 'workspace'] as const satisfies readonly SlugKind[];
const ID_AT = 1;
const WORKSPACE_AT = 17;
const SLUG_LENGTH_AT = 33;
const SLUG_AT = 34;

export function encodeLink(row: LinkTableRow): Buffer {
  const fields = [
    row.destination_url,
    row.channel ?? '',
    row.utm_source ?? '',
    row.utm_medium ?? '',
    row.utm_campaign ?? '',
    row.extra_query ?? '',
    settingsText(row),
  ];
  while (fields.at(-1) === '') fields.pop();
  return encode('link', row, fields.join('\0'));
}

export function encodeOther(row: OtherSlugRow): Buffer {
  return encode(row.kind, row, row.page === null ? '' : JSON.stringify(row.page));
}

/** Encodes the policy of a workspace, under a name that no slug has. */
export function encodePolicy({ id, suspended, tracking }: WorkspacePolicyRow): Buffer {
  const policy: WorkspacePolicy = { suspended, tracking };
  return encode('workspace', { id, workspace_id: id, slug: policySlug(id) }, JSON.stringify(policy));
}

function encode(
  kind: SlugKind,
  row: { id: string; workspace_id: string; slug: string },
  fields: string,
): Buffer {
  const head = Buffer.alloc(SLUG_AT);
  head[0] = KINDS.indexOf(kind);
  head.set(uuidToBytes(row.id), ID_AT);
  head.set(uuidToBytes(row.workspace_id), WORKSPACE_AT);
  head[SLUG_LENGTH_AT] = row.slug.length;
  return Buffer.concat([head, Buffer.from(row.slug, 'latin1'), Buffer.from(fields, 'utf8')]);
}

function settingsText(row: LinkTableRow): string {
  const settings: LinkRecordSettings = {
    ...(row.targeting && { targeting: row.targeting }),
    ...(row.rules && { rules: row.rules }),
    ...(row.split && { split: row.split }),
    ...(row.split && row.split_winner !== null && { winner: row.split_winner }),
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    ...(row.max_clicks !== null && { maxClicks: row.max_clicks }),
    ...(row.expired_redirect_url && { expiredRedirectUrl: row.expired_redirect_url }),
    ...(row.password_hash && { passwordHash: row.password_hash }),
    ...(row.retargeting && { retargeting: row.retargeting }),
    ...(row.is_blocked && { blocked: true as const }),
  };
  return Object.keys(settings).length === 0 ? '' : JSON.stringify(settings);
}

const REFERRAL = Buffer.from('referral');
const NUL = 0;

/** Returns whether the record is a link of a referrer. Strangers make these, with a publishable key. */
export function isReferralLink(record: Buffer): boolean {
  if (KINDS[record[0] ?? 0] !== 'link') return false;
  const channelAt = record.indexOf(NUL, SLUG_AT + (record[SLUG_LENGTH_AT] ?? 0)) + 1;
  if (channelAt === 0) return false;
  const end = record.indexOf(NUL, channelAt);
  return record.subarray(channelAt, end < 0 ? record.length : end).equals(REFERRAL);
}

/** Decodes a record. The result shares no memory with `bytes`. */
export function decodeRecord(bytes: Buffer): SlugRecord {
  const kind = KINDS[bytes[0] ?? 0];
  if (kind === undefined) throw new RangeError(`unknown kind ${bytes[0]} of a record`);
  const base = {
    id: Uint8Array.from(bytes.subarray(ID_AT, WORKSPACE_AT)),
    workspaceId: Uint8Array.from(bytes.subarray(WORKSPACE_AT, SLUG_LENGTH_AT)),
    slug: slugOf(bytes),
  };
  const fields = bytes.toString('utf8', SLUG_AT + (bytes[SLUG_LENGTH_AT] ?? 0));
  if (kind !== 'link') return { kind, ...base, content: fields };
  const [destination = '', channel, utmSource, utmMedium, utmCampaign, extraQuery, settings] =
    fields.split('\0');
  return {
    kind,
    ...base,
    destination,
    channel: channel || null,
    utmSource: utmSource || null,
    utmMedium: utmMedium || null,
    utmCampaign: utmCampaign || null,
    extraQuery: extraQuery || null,
    settings: settings ? (JSON.parse(settings) as LinkRecordSettings) : {},
  };
}

export function kindOf(record: Buffer): SlugKind {
  return KINDS[record[0] ?? 0] ?? 'link';
}

export function slugOf(record: Buffer): string {
  return record.toString('latin1', SLUG_AT, SLUG_AT + (record[SLUG_LENGTH_AT] ?? 0));
}

export function idOf(record: Buffer): Buffer {
  return record.subarray(ID_AT, WORKSPACE_AT);
}

/** Whether a record has this slug, compared without case (ASCII). */
export function hasSlug(record: Buffer, slug: string): boolean {
  if (record[SLUG_LENGTH_AT] !== slug.length) return false;
  for (let at = 0; at < slug.length; at++) {
    if (lower(record[SLUG_AT + at] ?? 0) !== lower(slug.charCodeAt(at))) return false;
  }
  return true;
}

/**
 * Start value of the hashes, which stay in this process: without it anyone could compute slugs that all hash alike, and
 * make each lookup walk through all of them.
 */
const SEED = randomInt(2 ** 32 - 1);

/** Returns the seeded FNV-1a hash of the slug in lower case: one hash for every spelling. */
export function hashOfSlug(slug: string): number {
  let hash = SEED;
  for (let at = 0; at < slug.length; at++) hash = Math.imul(hash ^ lower(slug.charCodeAt(at)), 0x01000193);
  return hash ^ (hash >>> 15);
}

/** Returns the FNV-1a hash of an id's 16 bytes. */
export function hashOfId(id: Uint8Array): number {
  let hash = SEED;
  for (let at = 0; at < 16; at++) hash = Math.imul(hash ^ (id[at] ?? 0), 0x01000193);
  return hash ^ (hash >>> 15);
}

function lower(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
}
