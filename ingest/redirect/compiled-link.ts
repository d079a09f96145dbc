import type { Channel } from '../../core/enrich/channels.ts';
import { utmMediumOf } from '../../core/enrich/channels.ts';
import { type Device, isMobileDevice } from '../../core/enrich/devices.ts';
import { bytesToUuid } from '../../core/ids.ts';
import { compileDestination, type LinkParameters, type RedirectUrl } from '../../core/redirect-url.ts';
import type { VisitorIds, WorkspaceVisitors } from '../../core/visitors.ts';
import type { Retargeting } from '../../sql/links.ts';
import type { LinkRecord } from '../link-table/records.ts';

/** A link with everything worked out that does not depend on the visitor. */
export type CompiledLink = {
  id: Uint8Array;
  /** The id as text. */
  idText: string;
  workspaceId: Uint8Array;
  slug: string;
  /** Null: a Smart Link. */
  channel: string | null;
  /** Those of its workspace. */
  visitors: WorkspaceVisitors;
  /**
   * The address for a visitor of this device.
   *
   * @param channel the link's, or of a Smart Link the one that this click was given
   */
  destinationFor(device: Device, channel: string): RedirectUrl;
  hasTargeting: boolean;
  /** Milliseconds since the epoch, infinite when it never expires. */
  expiresAt: number;
  maxClicks: number | null;
  expiredRedirectUrl: string | null;
  passwordHash: string | null;
  retargeting: Retargeting | null;
};

type Screen = 'all' | 'mobile' | 'desktop';

export function compileLink(record: LinkRecord, visitorIds: VisitorIds): CompiledLink {
  const { settings, channel } = record;
  const { targeting } = settings;
  const addresses: Record<Screen, string> = {
    all: record.destination,
    mobile: targeting?.mobile ?? record.destination,
    desktop: targeting?.desktop ?? record.destination,
  };
  const ref = record.extraQuery === null ? null : new URLSearchParams(record.extraQuery).get('ref');
  const compiled = new Map<string, RedirectUrl>();
  // Most links have one address for every visitor: then it is this.
  const single = channel !== null && targeting === undefined;
  let only: RedirectUrl | undefined;

  function parametersFor(own: string): LinkParameters {
    const smart = channel === null;
    return {
      utm_source: smart ? own : record.utmSource,
      utm_medium: smart ? utmMediumOf(own as Channel) : record.utmMedium,
      utm_campaign: record.utmCampaign,
      ref,
    };
  }

  return {
    id: record.id,
    idText: bytesToUuid(record.id),
    workspaceId: record.workspaceId,
    slug: record.slug,
    channel,
    visitors: visitorIds.forWorkspace(record.workspaceId),
    destinationFor(device, own) {
      if (only !== undefined) return only;
      const screen = targeting === undefined ? 'all' : screenOf(device);
      const name = channel === null ? `${screen} ${own}` : screen;
      let url = compiled.get(name);
      if (url === undefined) {
        url = compileDestination(addresses[screen], parametersFor(own));
        if (single) only = url;
        else compiled.set(name, url);
      }
      return url;
    },
    hasTargeting: targeting !== undefined,
    expiresAt: settings.expiresAt ?? Number.POSITIVE_INFINITY,
    maxClicks: settings.maxClicks ?? null,
    expiredRedirectUrl: settings.expiredRedirectUrl ?? null,
    passwordHash: settings.passwordHash ?? null,
    retargeting: settings.retargeting ?? null,
  };
}

/** A television or an HTTP library is neither: it gets the link's own destination. */
function screenOf(device: Device): Screen {
  if (isMobileDevice(device)) return 'mobile';
  return device === 'desktop' ? 'desktop' : 'all';
}
