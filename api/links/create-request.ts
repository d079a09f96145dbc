import { type CreatableChannel, creatableChannel } from '../../core/enrich/channels.ts';
import { badRequest } from '../../core/errors.ts';
import { checkAll, readAll } from '../../core/faults.ts';
import { type DestinationRules, requireDestination } from '../../core/links/destinations.ts';
import { keptSlugProblem, linkSlugProblem, SLUG_LIMIT } from '../../core/links/slugs.ts';
import type { LinkSettings } from '../../sql/links/link-settings.ts';
import { checkMetadata } from '../schemas.ts';
import type { WantedDomain } from './domain-choice.ts';
import type { CreateBody } from './schemas.ts';
import { checkTimes, type OwnSettings, readOwnSettings, readSettings, withPasswordHash } from './settings.ts';
import { slugsWanted } from './slug-choice.ts';
import { checkSplit } from './split.ts';

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

/** `keepsSlugs`: whether a slug may be another service's, with other letters and slashes (an import). */
export type CreateRules = DestinationRules & { keepsSlugs?: boolean };

/**
 * Validates a create body beyond its schema.
 *
 * @throws {AppError} `bad_request` that names every fault
 */
export async function readCreateRequest(body: CreateBody, rules: CreateRules): Promise<CreateRequest> {
  const {
    settings,
    together: _,
    ...request
  } = readAll({
    ...fieldReaders(body, rules),
    settings: () => readSettings(body, rules),
  });
  return { ...request, settings: await withPasswordHash(settings, body) };
}

/**
 * Checks the fields of a create body that its schema accepted.
 *
 * @param faulty fields that already have a fault
 * @throws {AppError} `bad_request` that names every other fault
 */
export function checkRest(body: CreateBody, faulty: ReadonlySet<string>, rules: CreateRules): void {
  const hasChannel = ['channel', 'channels', 'smart'].some((name) => faulty.has(name));
  const likeValid = {
    ...body,
    ...(hasChannel && { smart: true }),
    ...(faulty.has('destination_id') && { destination_id: 'any' }),
  };
  readAll({
    ...fieldReaders(likeValid, rules, faulty),
    settings: () => readSettings(body, rules),
  });
}

function fieldReaders(body: CreateBody, rules: CreateRules, faulty: ReadonlySet<string> = new Set()) {
  return {
    together: () => checkTogether(body, faulty),
    campaign: (): CreateRequest['campaign'] =>
      body.destination_id
        ? { kind: 'existing', id: body.destination_id.toLowerCase() }
        : readCampaign(body, rules),
    channels: () => readChannels(body),
    externalId: () => {
      if (body.external_id !== undefined && (body.channels?.length ?? 1) > 1) {
        throw badRequest('external_id', 'is allowed only when exactly one link is created');
      }
      return body.external_id ?? null;
    },
    metadata: () => {
      checkMetadata(body.metadata);
      return body.metadata ?? null;
    },
    domain: () => body.domain,
    slug: () => readSlug(body.slug, knownChannels(body), rules.keepsSlugs ?? false),
    own: () => readOwnSettings(body),
  };
}

/** Checks fields of a new campaign's link that depend on each other; a link of a campaign inherits what is not sent. */
function checkTogether(body: CreateBody, faulty: ReadonlySet<string>): void {
  if (body.destination_id !== undefined) return;
  const { split = null, split_ends_at = null, split_goal = null } = body;
  const isSplitKnown = !faulty.has('split') && !faulty.has('split_goal');
  checkAll([
    () => isSplitKnown && checkSplit({ split: split?.length ? [] : null, split_ends_at, split_goal }),
    () => checkTimes(body),
  ]);
}

function readCampaign(body: CreateBody, rules: DestinationRules): NewCampaign {
  const { destination, name } = readAll({
    destination: () => {
      const text = body.destination_url;
      if (text === undefined) throw badRequest('destination_url', 'is required without `destination_id`');
      return { text, url: requireDestination('destination_url', text, rules) };
    },
    name: () => {
      if (body.name === undefined) throw badRequest('name', 'is required without `destination_id`');
      return body.name;
    },
  });
  return {
    kind: 'new',
    name,
    destinationUrl: destination.url,
    destinationText: destination.text,
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

/** Returns the known channels, which slugs are generated for. An unknown channel is a fault of its own. */
const knownChannels = ({ channels = [] }: CreateBody): (CreatableChannel | null)[] =>
  channels.length > 1 ? channels.flatMap((name) => creatableChannel(name) ?? []) : [null];

function readSlug(
  given: string | undefined,
  channels: (CreatableChannel | null)[],
  keeps: boolean,
): string | null {
  if (given === undefined) return null;
  const slug = given.normalize('NFC');
  for (const whole of slugsWanted(slug, channels)) {
    const problem = keeps ? keptSlugProblem(whole) : linkSlugProblem(whole);
    if (problem === 'reserved') throw badRequest('slug', `must not be "${whole}": this slug is reserved`);
    if (problem) {
      const rule = keeps ? KEPT_SLUG_RULE : `must be 1 to ${SLUG_LIMIT} characters of A-Z a-z 0-9 - _`;
      throw badRequest('slug', `${rule}, not "${whole}"`);
    }
  }
  return slug;
}

const KEPT_SLUG_RULE = `must be 1 to ${SLUG_LIMIT} letters, digits, - and _, with at most 4 slashes between them`;
