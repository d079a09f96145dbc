import { clickId } from '../ids.ts';
import { formatInstant } from '../time/timestamps.ts';
import type { ClickDetails, ClickRecord } from './click-fields.ts';

export type ShownClick = ClickDetails & {
  /** Nanoseconds since the epoch, unique in the deployment. */
  tsNanos: bigint;
  linkId: string;
  visitorId: string;
  channel: string;
  isBot: boolean;
};

/** Returns a click as the API shows it. */
export function clickRecord(click: ShownClick): ClickRecord {
  return {
    id: clickId(click.tsNanos),
    ts: formatInstant(click.tsNanos, 6),
    link_id: click.linkId,
    visitor_id: click.visitorId,
    channel: click.channel,
    country: click.country,
    city: click.city,
    device: click.device,
    browser: click.browser,
    os: click.os,
    referer: click.referer,
    is_bot: click.isBot,
  };
}
