import type { DecodedEvent } from '../../core/event-log/port.ts';
import type { TrackedEvent } from '../../core/events/types.ts';

/**
 * Returns decoded events as plain objects, with every field in order and bytes as Buffers, for comparison with the
 * written events.
 */
export function plainEvents(events: readonly DecodedEvent[]): DecodedEvent[] {
  return events.map(({ sequence, event }) => ({ sequence, event: plainEvent(event) }));
}

function plainEvent(event: TrackedEvent): TrackedEvent {
  if (event.kind !== 'click') return event;
  const { kind, ts, channel, referer, userAgent, language, flags, ad } = event;
  return {
    kind,
    ts,
    workspaceId: Buffer.from(event.workspaceId),
    linkId: Buffer.from(event.linkId),
    visitorId: Buffer.from(event.visitorId),
    labels: { ...event.labels },
    channel,
    referer,
    userAgent,
    language,
    address: Buffer.from(event.address),
    flags,
    ad,
  };
}
