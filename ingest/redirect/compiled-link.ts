import { CHANNELS, type Channel, utmMediumOf } from '../../core/enrich/channels.ts';
import { type Device, isMobileDevice } from '../../core/enrich/devices.ts';
import { bytesToUuid } from '../../core/ids.ts';
import type { BlockedDomains } from '../../core/links/blocked-domains.ts';
import type { VisitorIds, WorkspaceVisitors } from '../../core/tracking/visitors.ts';
import type { Retargeting } from '../../sql/links/links.ts';
import type { LinkRecord } from '../link-table/records.ts';
import { Destination, type LinkParameters } from './redirect-url.ts';

type Screen = 'all' | 'mobile' | 'desktop';

/**
 * A link with everything precomputed that does not depend on the visitor. A plain visit touches few objects: with
 * many links in use each of them is a cache miss.
 */
export class CompiledLink {
  readonly kind = 'link';
  /** Used since the table last looked; see {@link import('./compiled-links.ts').CompiledLinks}. */
  used = false;
  readonly id: Uint8Array;
  readonly slug: string;
  /** Null: a Smart Link. */
  readonly channel: string | null;
  /** Visitor ids of its workspace. */
  readonly visitors: WorkspaceVisitors;
  /** Milliseconds since the epoch; null: never. */
  readonly expiresAt: number | null;
  readonly maxClicks: number | null;
  readonly passwordHash: string | null;
  readonly retargeting: Retargeting | null;
  /** The destination of every visitor, once computed; null for links with targeting and Smart Links. */
  #only: Destination | null = null;
  readonly expiredRedirectUrl: string | null;
  readonly workspaceId: Uint8Array;
  /** Blocked by the operator: itself, or the domain of a destination. */
  readonly isBlocked: boolean;
  readonly hasTargeting: boolean;
  readonly #destinationFor: (device: Device, channel: string) => Destination;

  constructor(record: LinkRecord, visitorIds: VisitorIds, domains: Pick<BlockedDomains, 'blocks'>) {
    const { settings, channel } = record;
    this.id = record.id;
    this.slug = record.slug;
    this.channel = channel === null ? null : channelNamed(channel);
    this.visitors = visitorIds.forWorkspace(record.workspaceId);
    this.expiresAt = settings.expiresAt ?? null;
    this.maxClicks = settings.maxClicks ?? null;
    this.passwordHash = settings.passwordHash ?? null;
    this.retargeting = settings.retargeting ?? null;
    this.expiredRedirectUrl = settings.expiredRedirectUrl ?? null;
    this.workspaceId = record.workspaceId;
    this.isBlocked = settings.blocked === true || urlsOf(record).some((url) => domains.blocks(url));
    this.hasTargeting = settings.targeting !== undefined;
    this.#destinationFor = destinationsOf(record);
  }

  /** The id as text. */
  get idText(): string {
    return bytesToUuid(this.id);
  }

  /**
   * Returns the destination for a device.
   *
   * @param channel the link's channel; of a Smart Link the one inferred for this click
   */
  destinationFor(device: Device, channel: string): Destination {
    if (this.#only !== null) return this.#only;
    const destination = this.#destinationFor(device, channel);
    if (this.channel !== null && !this.hasTargeting) this.#only = destination;
    return destination;
  }
}

function urlsOf({ destination, settings }: LinkRecord): string[] {
  const { targeting, expiredRedirectUrl } = settings;
  return [destination, targeting?.mobile, targeting?.desktop, expiredRedirectUrl].filter(
    (url) => url !== undefined,
  );
}

/** Computes the destination for a device and a channel, each once. */
function destinationsOf(record: LinkRecord): (device: Device, channel: string) => Destination {
  const { settings, channel } = record;
  const { targeting } = settings;
  const addresses: Record<Screen, string> = {
    all: record.destination,
    mobile: targeting?.mobile ?? record.destination,
    desktop: targeting?.desktop ?? record.destination,
  };
  const compiled = new Map<string, Destination>();
  const address = { domain: '', slug: record.slug };

  function parametersFor(own: string): LinkParameters {
    const smart = channel === null;
    return {
      utm_source: smart ? own : record.utmSource,
      utm_medium: smart ? utmMediumOf(own as Channel) : record.utmMedium,
      utm_campaign: record.utmCampaign,
      ref: record.extraQuery === null ? null : new URLSearchParams(record.extraQuery).get('ref'),
    };
  }

  return (device, own) => {
    const screen = targeting === undefined ? 'all' : screenOf(device);
    const name = channel === null ? `${screen} ${own}` : screen;
    let destination = compiled.get(name);
    if (destination === undefined) {
      destination = new Destination(addresses[screen], parametersFor(own), address);
      compiled.set(name, destination);
    }
    return destination;
  };
}

/** Returns one shared string for all links of a channel. */
function channelNamed(name: string): string {
  return CHANNELS.find((channel) => channel === name) ?? name;
}

/** Neither mobile nor desktop, such as a television, gets the link's own destination. */
function screenOf(device: Device): Screen {
  if (isMobileDevice(device)) return 'mobile';
  return device === 'desktop' ? 'desktop' : 'all';
}
