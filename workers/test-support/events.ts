import { NO_LABELS } from '../../core/events/click-labels.ts';
import type { ClickEvent, HeartbeatEvent, IdentifyEvent, OrderEvent } from '../../core/events/types.ts';
import { uuidToBytes } from '../../core/ids.ts';

const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';

type ClickGiven = { workspace: string; link: string; visitor: string; ts: number } & Partial<
  Pick<ClickEvent, 'channel' | 'referer' | 'flags'>
>;

/** A click of a phone from 8.8.8.8. */
export function click(given: ClickGiven): ClickEvent {
  return {
    kind: 'click',
    ts: given.ts,
    workspaceId: uuidToBytes(given.workspace),
    linkId: uuidToBytes(given.link),
    visitorId: uuidToBytes(given.visitor),
    labels: NO_LABELS,
    language: '',
    channel: given.channel ?? 'twitter',
    referer: given.referer ?? 'https://t.co/abc',
    userAgent: SAFARI,
    address: Buffer.from('00000000000000000000ffff08080808', 'hex'),
    flags: given.flags ?? 0,
    ad: null,
  };
}

export function identify(given: {
  workspace: string;
  visitor: string | null;
  ts: number;
  email: string | null;
  user?: string;
  landedAt?: readonly number[];
}): IdentifyEvent {
  return {
    kind: 'identify',
    ts: given.ts,
    workspaceId: uuidToBytes(given.workspace),
    visitorId: given.visitor === null ? null : uuidToBytes(given.visitor),
    email: given.email,
    externalUserId: given.user ?? null,
    source: 'pixel',
    ...(given.landedAt && { landedAt: given.landedAt }),
  };
}

export function order(
  given: { workspace: string; ts: number; orderId: string } & Partial<
    Pick<OrderEvent, 'source' | 'amountMinor' | 'commissionableMinor' | 'isRenewal' | 'email'> & {
      visitor: string;
      others: readonly string[];
      user: string;
      landedAt: readonly number[];
    }
  >,
): OrderEvent {
  return {
    kind: 'order',
    ts: given.ts,
    workspaceId: uuidToBytes(given.workspace),
    visitorId: given.visitor === undefined ? null : uuidToBytes(given.visitor),
    ...(given.others && { otherVisitorIds: given.others.map(uuidToBytes) }),
    ...(given.landedAt && { landedAt: given.landedAt }),
    orderId: given.orderId,
    amountMinor: given.amountMinor ?? 1_999,
    commissionableMinor: given.commissionableMinor ?? null,
    isRenewal: given.isRenewal ?? false,
    currency: 'usd',
    email: given.email ?? null,
    externalUserId: given.user ?? null,
    source: given.source ?? 'pixel',
  };
}

export function heartbeat(ts: number): HeartbeatEvent {
  return { kind: 'heartbeat', ts };
}
