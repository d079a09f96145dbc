import { randomInt } from 'node:crypto';
import { uuidToBytes } from '../../core/ids.ts';
import type { LinkPreview } from '../../core/links/preview.ts';
import type { LinkRule, SplitVariant, Targeting } from '../../core/links/rules/types.ts';
import { isAsciiSlug } from '../../core/links/slugs.ts';
import type { RedirectStatus, Retargeting } from '../../sql/links/link-settings.ts';
import type {
  DomainRow,
  LinkTableRow,
  OtherSlugRow,
  WorkspacePolicyRow,
} from '../../sql/links/link-table.ts';
import { domainName, nameOf, partsOf } from './names.ts';
import { policySlug, type WorkspacePolicy } from './workspace-policies.ts';

/**
 * The table's records, in memory and on disk:
 * `u8 kind | 16 bytes id | 16 bytes workspace | u8 name length | name | fields`, with a name of `names.ts` in UTF-8. A
 * link's fields are UTF-8 texts separated by NUL (which PostgreSQL's texts can't contain), empty for null, without
 * empty ones at the end. A page's only field is its content as JSON, empty while it is not published.
 */

/** The target of a name. */
export type SlugKind = 'link' | 'bio_page' | 'program' | 'workspace' | 'domain' | 'alias' | 'prefix';

export type LinkRecord = {
  kind: 'link';
  id: Uint8Array;
  workspaceId: Uint8Array;
  /** As in `names.ts`. */
  name: string;
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
  preview?: LinkPreview;
  /** HTTP status of the redirect; left out: 302. */
  status?: Exclude<RedirectStatus, 302>;
  forwardQuery?: false;
  forwardPath?: true;
  appendUtm?: false;
  appendVisitor?: false;
  utmTerm?: string;
  utmContent?: string;
  /** Milliseconds since the epoch. */
  startsAt?: number;
  /** The operator has blocked the link. */
  blocked?: true;
  /** The slug's own spelling, where the name has its key. */
  slug?: string;
};

/** Anything but a link; its name is in lower case. */
export type OtherRecord = {
  kind: Exclude<SlugKind, 'link'>;
  id: Uint8Array;
  workspaceId: Uint8Array;
  name: string;
  /**
   * JSON of a page's `PublicPage`, of a `WorkspacePolicy` or of a domain; the present name of an alias's link; empty
   * for an unpublished page, a program, and a prefix.
   */
  content: string;
};

export type SlugRecord = LinkRecord | OtherRecord;

const KINDS = [
  'link',
  'bio_page',
  'program',
  'workspace',
  'domain',
  'alias',
  'prefix',
] as const satisfies readonly SlugKind[];
const ID_AT = 1;
const WORKSPACE_AT = 17;
const NAME_LENGTH_AT = 33;
const NAME_AT = 34;

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
  return encode('link', row, nameOf(row.domain_number, row.slug), fields.join('\0'));
}

export function encodeOther(row: OtherSlugRow): Buffer {
  const { kind, page, target } = row;
  const content = target === null ? page && JSON.stringify(page) : nameOf(target.domainNumber, target.slug);
  return encode(kind, row, nameOf(row.domainNumber, row.slug), content ?? '');
}

/** Encodes the policy of a workspace, under a name that no slug has. */
export function encodePolicy(row: WorkspacePolicyRow): Buffer {
  const { id, suspended, tracking, link_parameters, allowed_origins, language } = row;
  const policy: WorkspacePolicy = {
    suspended,
    tracking,
    ...(link_parameters !== null && { linkParameters: link_parameters }),
    ...(allowed_origins.length > 0 && { allowedOrigins: allowed_origins }),
    ...(language !== null && { language }),
  };
  return encode('workspace', { id, workspace_id: id }, policySlug(id), JSON.stringify(policy));
}

type DomainParts = Omit<DomainRow, 'id' | 'workspace_id' | 'domain'>;

/** Encodes a proven domain, under a name that no slug has. */
export function encodeDomain({ id, workspace_id, domain, ...parts }: DomainRow): Buffer {
  return encode(
    'domain',
    { id, workspace_id },
    domainName(domain),
    JSON.stringify(parts satisfies DomainParts),
  );
}

/** Decodes the content of a domain's record. */
export function domainPartsOf({ content }: OtherRecord): DomainParts {
  return JSON.parse(content) as DomainParts;
}

function encode(
  kind: SlugKind,
  row: { id: string; workspace_id: string },
  name: string,
  fields: string,
): Buffer {
  const head = Buffer.alloc(NAME_AT);
  const nameBytes = Buffer.from(name, 'utf8');
  head[0] = KINDS.indexOf(kind);
  head.set(uuidToBytes(row.id), ID_AT);
  head.set(uuidToBytes(row.workspace_id), WORKSPACE_AT);
  head[NAME_LENGTH_AT] = nameBytes.length;
  return Buffer.concat([head, nameBytes, Buffer.from(fields, 'utf8')]);
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
    ...(row.preview && { preview: row.preview }),
    ...(row.redirect_status !== 302 && { status: row.redirect_status }),
    ...(!row.forward_query && { forwardQuery: false as const }),
    ...(row.forward_path && { forwardPath: true as const }),
    ...(!row.append_utm && { appendUtm: false as const }),
    ...(!row.append_visitor && { appendVisitor: false as const }),
    ...(row.utm_term && { utmTerm: row.utm_term }),
    ...(row.utm_content && { utmContent: row.utm_content }),
    ...(row.starts_at !== null && { startsAt: row.starts_at }),
    ...(row.is_blocked && { blocked: true as const }),
    ...(!isAsciiSlug(row.slug) && { slug: row.slug }),
  };
  return Object.keys(settings).length === 0 ? '' : JSON.stringify(settings);
}

const REFERRAL = Buffer.from('referral');
const NUL = 0;

/** Returns whether the record is a link of a referrer. Strangers make these, with a publishable key. */
export function isReferralLink(record: Buffer): boolean {
  if (KINDS[record[0] ?? 0] !== 'link') return false;
  const channelAt = record.indexOf(NUL, NAME_AT + (record[NAME_LENGTH_AT] ?? 0)) + 1;
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
    workspaceId: Uint8Array.from(bytes.subarray(WORKSPACE_AT, NAME_LENGTH_AT)),
    name: recordName(bytes),
  };
  const fields = bytes.toString('utf8', NAME_AT + (bytes[NAME_LENGTH_AT] ?? 0));
  if (kind !== 'link') return { kind, ...base, content: fields };
  const [destination = '', channel, utmSource, utmMedium, utmCampaign, extraQuery, settingsJson] =
    fields.split('\0');
  const settings = settingsJson ? (JSON.parse(settingsJson) as LinkRecordSettings) : {};
  return {
    kind,
    ...base,
    slug: settings.slug ?? partsOf(base.name).slug,
    destination,
    channel: channel || null,
    utmSource: utmSource || null,
    utmMedium: utmMedium || null,
    utmCampaign: utmCampaign || null,
    extraQuery: extraQuery || null,
    settings,
  };
}

export function kindOf(record: Buffer): SlugKind {
  return KINDS[record[0] ?? 0] ?? 'link';
}

export function recordName(record: Buffer): string {
  return record.toString('utf8', NAME_AT, NAME_AT + (record[NAME_LENGTH_AT] ?? 0));
}

export function idOf(record: Buffer): Buffer {
  return record.subarray(ID_AT, WORKSPACE_AT);
}

/** Whether a record has this name, compared without the case of ASCII. */
export function hasName(record: Buffer, name: string): boolean {
  // A name beyond ASCII has more bytes than characters.
  if (record[NAME_LENGTH_AT] !== name.length) return !isAsciiSlug(name) && recordName(record) === name;
  for (let at = 0; at < name.length; at++) {
    if (lower(record[NAME_AT + at] ?? 0) !== lower(name.charCodeAt(at))) return false;
  }
  return true;
}

/**
 * Start value of the hashes, which stay in this process: without it anyone could compute slugs that all hash alike, and
 * make each lookup walk through all of them.
 */
const SEED = randomInt(2 ** 32 - 1);

/** Returns the seeded FNV-1a hash of the name in lower case: one hash for every spelling. */
export function hashOfName(name: string): number {
  let hash = SEED;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ lower(name.charCodeAt(at)), 0x01000193);
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
