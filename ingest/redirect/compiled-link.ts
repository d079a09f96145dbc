import { CHANNELS, type Channel, utmMediumOf } from '../../core/enrich/channels.ts';
import type { ClickLabels } from '../../core/events/click-labels.ts';
import { bytesToUuid } from '../../core/ids.ts';
import type { BlockedDomains } from '../../core/links/blocked-domains.ts';
import type { LinkPreview } from '../../core/links/preview.ts';
import {
  compileDecisions,
  type Decide,
  type DecidingVisit,
  type Decision,
} from '../../core/links/rules/decide.ts';
import type { VisitorIds, WorkspaceVisitors } from '../../core/tracking/visitors.ts';
import type { RedirectStatus, Retargeting } from '../../sql/links/link-settings.ts';
import type { LinkRecord } from '../link-table/records.ts';
import { Destination, type LinkParameters } from './redirect-url.ts';

/** Host and slug of a link; an empty host is the deployment's own. */
export type Address = Pick<ClickLabels, 'domain' | 'slug'>;

/**
 * A link with everything precomputed that does not depend on the visitor. A plain visit touches few objects: with
 * many links in use each of them is a cache miss.
 */
export class CompiledLink {
  readonly kind = 'link';
  /** Used since the table last looked; see {@link import('./compiled-links.ts').CompiledLinks}. */
  used = false;
  readonly id: Uint8Array;
  /** Host and slug as visitors open them. */
  readonly domain: string;
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
  /** The card for link-preview bots. */
  readonly preview: LinkPreview | null;
  /** The destination of every visitor, once computed; null for links that decide and for Smart Links. */
  #only: Destination | null = null;
  readonly expiredRedirectUrl: string | null;
  /** Status line of the redirect. */
  readonly status: string;
  readonly forwardsPath: boolean;
  /** Milliseconds since the epoch; null: at once. */
  readonly startsAt: number | null;
  readonly workspaceId: Uint8Array;
  /** Blocked by the operator: itself, or the domain of a destination. */
  readonly isBlocked: boolean;
  /** Has rules, targeting or a split: visitors get different destinations. */
  readonly decides: boolean;
  readonly #destinationFor: (visit: DecidingVisit | null, channel: string) => Destination;

  /** @param address that visitors open */
  constructor(
    record: LinkRecord,
    visitorIds: VisitorIds,
    domains: Pick<BlockedDomains, 'blocks'>,
    address: Address,
  ) {
    const { settings, channel } = record;
    this.id = record.id;
    this.domain = address.domain;
    this.slug = address.slug;
    this.channel = channel === null ? null : channelNamed(channel);
    this.visitors = visitorIds.forWorkspace(record.workspaceId);
    this.expiresAt = settings.expiresAt ?? null;
    this.maxClicks = settings.maxClicks ?? null;
    this.passwordHash = settings.passwordHash ?? null;
    this.retargeting = settings.retargeting ?? null;
    this.preview = settings.preview ?? null;
    this.expiredRedirectUrl = settings.expiredRedirectUrl ?? null;
    this.status = STATUS_LINES[settings.status ?? 302];
    this.forwardsPath = settings.forwardPath === true;
    this.startsAt = settings.startsAt ?? null;
    this.workspaceId = record.workspaceId;
    this.isBlocked = settings.blocked === true || urlsOf(record).some((url) => domains.blocks(url));
    const { rules = [], targeting, split } = settings;
    this.decides = rules.length > 0 || targeting !== undefined || split !== undefined;
    this.#destinationFor = destinationsOf(
      record,
      address,
      this.decides
        ? compileDecisions({ ...record.settings, id: record.id, destination: record.destination })
        : null,
    );
  }

  /** The id as text. */
  get idText(): string {
    return bytesToUuid(this.id);
  }

  /**
   * Returns the destination of a visit.
   *
   * @param visit what decides; null for a link that does not decide
   * @param channel the link's channel; of a Smart Link the one inferred for this click
   */
  destinationFor(visit: DecidingVisit | null, channel: string): Destination {
    if (this.#only !== null) return this.#only;
    const destination = this.#destinationFor(visit, channel);
    if (this.channel !== null && !this.decides) this.#only = destination;
    return destination;
  }
}

const STATUS_LINES: Record<RedirectStatus, string> = {
  301: '301 Moved Permanently',
  302: '302 Found',
  307: '307 Temporary Redirect',
  308: '308 Permanent Redirect',
};

/** Every address that a visitor of the link may be sent to. */
function urlsOf({ destination, settings }: LinkRecord): string[] {
  const { targeting = {}, rules = [], split = [], expiredRedirectUrl } = settings;
  return [
    destination,
    ...Object.values(targeting),
    ...[...rules, ...split].map(({ destination_url }) => destination_url),
    ...(expiredRedirectUrl === undefined ? [] : [expiredRedirectUrl]),
  ];
}

/** Computes the destination of a decision and a channel, each once. */
function destinationsOf(
  record: LinkRecord,
  address: Address,
  decide: Decide | null,
): (visit: DecidingVisit | null, channel: string) => Destination {
  const smart = record.channel === null;
  const plain: Decision = { url: record.destination, ruleId: '', variantId: '', target: '' };
  const { forwardQuery = true, appendUtm = true, appendVisitor = true } = record.settings;
  const switches = { forwardQuery, appendUtm, appendVisitor };
  const compiled = new Map<Decision, Map<string, Destination>>();

  function parametersFor(own: string): LinkParameters {
    return {
      utm_source: record.utmSource ?? (smart ? own : null),
      utm_medium: record.utmMedium ?? (smart ? utmMediumOf(own as Channel) : null),
      utm_campaign: record.utmCampaign,
      utm_term: record.settings.utmTerm ?? null,
      utm_content: record.settings.utmContent ?? null,
      ref: record.extraQuery === null ? null : new URLSearchParams(record.extraQuery).get('ref'),
    };
  }

  return (visit, channel) => {
    const decision = decide === null || visit === null ? plain : decide(visit);
    const byChannel = compiled.get(decision) ?? new Map<string, Destination>();
    compiled.set(decision, byChannel);
    const name = smart ? channel : '';
    let destination = byChannel.get(name);
    if (destination === undefined) {
      const { url, ruleId, variantId } = decision;
      const marks = { ...address, ruleId, variantId };
      destination = new Destination(url, parametersFor(channel), marks, switches);
      byChannel.set(name, destination);
    }
    return destination;
  };
}

/** Returns one shared string for all links of a channel. */
function channelNamed(name: string): string {
  return CHANNELS.find((channel) => channel === name) ?? name;
}
