import { type CreatableChannel, creatableChannel } from '../../core/enrich/channels.ts';
import { badRequest } from '../../core/errors.ts';
import { type DestinationRules, requireDestination } from '../../core/links/destinations.ts';
import { linkSlugProblem, SLUG_LIMIT } from '../../core/links/slugs.ts';
import type { LinkSettings } from '../../sql/links/link-settings.ts';
import { checkMetadata } from '../schemas.ts';
import type { WantedDomain } from './domain-choice.ts';
import type { CreateBody } from './schemas.ts';
import { type OwnSettings, readOwnSettings, readSettings } from './settings.ts';
import { slugsWanted } from './slug-choice.ts';

/** The fields of a new campaign, as sent. */
export type NewCampaign = {
  kind: 'new';
  name: string;
  destinationUrl: URL;
  destinationText: string;
  external: boolean;
  tags: string[];
  folderId: string | null;
};

/** A validated create request; database checks follow. */
export type CreateRequest = {
  campaign: NewCampaign | { kind: 'existing'; id: string };
  /** One link each; null is a Smart Link. */
  channels: (CreatableChannel | null)[];
  externalId: string | null;
  metadata: Record<string, unknown> | null;
  domain: WantedDomain;
  /** A custom slug; with several channels, the prefix of each. */
  slug: string | null;
  /** Undefined: not sent. */
  settings: Partial<LinkSettings>;
  own: OwnSettings;
};

/**
 * Removes the campaign's fields from a create body with a `destination_id`. They are ignored and need not be
 * valid.
 */
export function withoutIgnored(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('destination_id' in body)) return body;
  return { ...body, destination_url: undefined, name: undefined };
}

/**
 * Validates a create body beyond its schema.
 *
 * @throws {AppError} `bad_request` that names the field
 */
export async function readCreateRequest(body: CreateBody, rules: DestinationRules): Promise<CreateRequest> {
  const channels = readChannels(body);
  if (body.external_id !== undefined && channels.length > 1) {
    throw badRequest('external_id', 'is allowed only when exactly one link is created');
  }
  checkMetadata(body.metadata);
  return {
    campaign: body.destination_id
      ? { kind: 'existing', id: body.destination_id.toLowerCase() }
      : readCampaign(body, rules),
    channels,
    externalId: body.external_id ?? null,
    metadata: body.metadata ?? null,
    domain: body.domain,
    slug: readSlug(body.slug, channels),
    settings: await readSettings(body, rules),
    own: readOwnSettings(body),
  };
}

function readCampaign(body: CreateBody, rules: DestinationRules): NewCampaign {
  if (body.destination_url === undefined) {
    throw badRequest('destination_url', 'is required without `destination_id`');
  }
  if (body.name === undefined) throw badRequest('name', 'is required without `destination_id`');
  return {
    kind: 'new',
    name: body.name,
    destinationUrl: requireDestination('destination_url', body.destination_url, rules),
    destinationText: body.destination_url,
    external: body.external ?? false,
    tags: [...new Set(body.tags)],
    folderId: body.folder_id?.toLowerCase() ?? null,
  };
}

function readChannels({ channel, channels, smart }: CreateBody): (CreatableChannel | null)[] {
  const given = [channel !== undefined, channels !== undefined, smart === true].filter(Boolean).length;
  if (given !== 1)
    throw badRequest(
      'channel',
      'is required, or `channels` or `smart: true` instead; send exactly one of them',
    );
  if (smart === true) return [null];
  const keys = (channels ?? [channel ?? '']).map((name, index) => {
    const key = creatableChannel(name);
    if (!key)
      throw badRequest(
        channels ? `channels.${index}` : 'channel',
        'must be a known channel; see GET /api/v1/channels',
      );
    return key;
  });
  if (new Set(keys).size < keys.length) throw badRequest('channels', 'must not repeat a channel');
  return keys;
}

function readSlug(slug: string | undefined, channels: (CreatableChannel | null)[]): string | null {
  if (slug === undefined) return null;
  for (const whole of slugsWanted(slug, channels)) {
    const problem = linkSlugProblem(whole);
    if (problem === 'reserved') throw badRequest('slug', `must not be "${whole}": this slug is reserved`);
    if (problem) {
      throw badRequest('slug', `must be 1 to ${SLUG_LIMIT} characters of A-Z a-z 0-9 - _, not "${whole}"`);
    }
  }
  return slug;
}
