import { hashPassword, LINK_COST } from '../../core/access/passwords.ts';
import { badRequest } from '../../core/errors.ts';
import { readAll, readEach } from '../../core/faults.ts';
import { contactUrl } from '../../core/links/contact-url.ts';
import {
  type DestinationRules,
  requireAppDestination,
  requireDestination,
} from '../../core/links/destinations.ts';
import { readPreview } from '../../core/links/preview.ts';
import { readRules, readSplit } from '../../core/links/rules/read-rules.ts';
import type { Targeting } from '../../core/links/rules/types.ts';
import { formatInstant, INSTANT_END_NANOS, requireInstant } from '../../core/time/timestamps.ts';
import { type LinkSettings, NO_SETTINGS, type Retargeting } from '../../sql/links/link-settings.ts';
import type { Link } from '../../sql/links/links.ts';
import { PIXEL_IDS } from './pixel-ids.ts';
import type { SettingFields } from './schemas.ts';

const EARLIEST = 0n;

/**
 * Validates a link's own settings and returns them as stored, without the password: see {@link withPasswordHash}.
 * Undefined: not sent; null clears.
 *
 * @throws {AppError} `bad_request` that names every fault
 */
export function readSettings(fields: SettingFields, rules: DestinationRules): Partial<LinkSettings> {
  return {
    ...readAll({
      targeting: () => fields.targeting && readTargeting(fields.targeting, rules),
      rules: () => fields.rules && readRules(fields.rules, rules),
      split: () => fields.split && readSplit(fields.split, rules),
      split_ends_at: () => fields.split_ends_at && readStorable('split_ends_at', fields.split_ends_at),
      expires_at: () => fields.expires_at && readStorable('expires_at', fields.expires_at),
      expired_redirect_url: () => {
        const url = fields.expired_redirect_url;
        if (typeof url === 'string') requireDestination('expired_redirect_url', url, rules);
        return url;
      },
      retargeting: () => fields.retargeting && readRetargeting(fields.retargeting),
      preview: () => fields.preview && readPreview(fields.preview),
    }),
    ...readSwitches(fields),
    utm_campaign: fields.utm_campaign,
    split_goal: fields.split_goal,
    max_clicks: fields.max_clicks,
  };
}

/**
 * Returns validated settings with the password's hash. Call it before a transaction is open, because hashing takes
 * time.
 */
export async function withPasswordHash(
  settings: Partial<LinkSettings>,
  { password }: Pick<SettingFields, 'password'>,
): Promise<Partial<LinkSettings>> {
  if (password === undefined) return settings;
  return { ...settings, password_hash: password === null ? null : await hashPassword(password, LINK_COST) };
}

const SWITCHES = [
  'redirect_status',
  'forward_query',
  'forward_path',
  'append_utm',
  'append_visitor',
  'utm_term',
  'utm_content',
] as const;

/** Null restores the default. */
function readSwitches(fields: SettingFields): Partial<LinkSettings> {
  return Object.fromEntries(
    SWITCHES.map((name) => [name, fields[name] === null ? NO_SETTINGS[name] : fields[name]]),
  );
}

/** A link's own settings, which new links of its campaign do not inherit. Undefined: not sent. */
export type OwnSettings = Partial<Pick<Link, 'starts_at' | 'archived' | 'utm_source' | 'utm_medium'>>;

/**
 * Validates the settings that {@link readSettings} leaves out.
 *
 * @throws {AppError} `bad_request` that names the field
 */
export function readOwnSettings(fields: SettingFields): OwnSettings {
  return {
    starts_at: fields.starts_at && readStorable('starts_at', fields.starts_at),
    archived: fields.archived === null ? false : fields.archived,
    utm_source: fields.utm_source,
    utm_medium: fields.utm_medium,
  };
}

/**
 * Requires that a link begins before it ends.
 *
 * @param link the settings as the link will have them
 * @throws {AppError} `bad_request` that names the field
 */
export function checkTimes({ starts_at, expires_at }: Partial<Pick<Link, 'starts_at' | 'expires_at'>>): void {
  if (!starts_at || !expires_at) return;
  if (requireInstant('starts_at', starts_at) < requireInstant('expires_at', expires_at)) return;
  throw badRequest('starts_at', 'must be before `expires_at`: the link would never lead anywhere');
}

/** Parses an instant within the years that every part of the service can store. */
function readStorable(field: string, text: string): string {
  const nanos = requireInstant(field, text);
  if (nanos < EARLIEST || nanos >= INSTANT_END_NANOS) {
    throw badRequest(field, 'must be in the years 1970 to 9999');
  }
  return formatInstant(nanos, 6);
}

function readTargeting(given: Targeting, rules: DestinationRules): Targeting | null {
  const targeting: Targeting = {};
  readEach(TARGETS, ([name, requireUrl]) => {
    const sent = given[name];
    if (sent === undefined) return;
    const url = contactUrl(sent);
    requireUrl(`targeting.${name}`, url, rules);
    targeting[name] = url;
  });
  return Object.keys(targeting).length > 0 ? targeting : null;
}

/** Targeted systems, because an app opens only on its own system. */
const TARGETS = [
  ['ios', requireAppDestination],
  ['android', requireAppDestination],
  ['mobile', requireDestination],
  ['desktop', requireDestination],
] as const;

function readRetargeting(given: Retargeting): Retargeting | null {
  const pixels: Retargeting = {};
  readEach(Object.keys(PIXEL_IDS) as (keyof Retargeting)[], (platform) => {
    const id = given[platform];
    if (id === undefined) return;
    if (!PIXEL_IDS[platform].test(id)) {
      throw badRequest(`retargeting.${platform}`, `must be a pixel id of ${platform}`);
    }
    pixels[platform] = id;
  });
  return Object.keys(pixels).length > 0 ? pixels : null;
}
