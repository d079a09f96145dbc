import { inferChannel } from '../../core/enrich/infer-channel.ts';
import { NO_LABELS } from '../../core/events/click-labels.ts';
import type { ClickEvent } from '../../core/events/types.ts';
import { loadReferers } from './referers.ts';
import { loadUserAgents } from './user-agents.ts';

/** The raw request of a click of the corpus. */
export type CorpusRequest = { userAgent: string; referer: string };

/**
 * Every user agent of the corpus once and every referer at least once, paired by order; every fifth
 * request has no referer, like most visitors from apps and emails.
 */
export function corpusRequests(): CorpusRequest[] {
  const userAgents = loadUserAgents();
  const referers = loadReferers();
  let next = 0;
  return userAgents.map(({ userAgent }, index) => {
    if (index % 5 === 4) return { userAgent, referer: '' };
    const referer = referers[next++ % referers.length]?.referer ?? '';
    return { userAgent, referer };
  });
}

/** Returns the corpus as the clicks that ingest would write for a Smart Link, from addresses across IPv4. */
export function corpusClicks(): ClickEvent[] {
  return corpusRequests().map(({ userAgent, referer }, index) => ({
    kind: 'click',
    ts: 1_795_168_800_000_000 + index,
    workspaceId: new Uint8Array(16),
    linkId: new Uint8Array(16),
    visitorId: new Uint8Array(16),
    labels: NO_LABELS,
    language: '',
    channel: inferChannel(referer, userAgent),
    referer,
    userAgent,
    address: address(index),
    flags: 0,
    ad: null,
  }));
}

/** Spreads by a multiplicative hash (Knuth's constant), so that neighbors are in different networks. */
function address(index: number): Uint8Array {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16BE(0xffff, 10);
  bytes.writeUInt32BE(Math.imul(index + 1, 2_654_435_761) >>> 0, 12);
  return bytes;
}
