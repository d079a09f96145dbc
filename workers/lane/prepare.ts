import type { ClickRow } from '../../clickhouse/inserts/clicks.ts';
import type { IdentifyRow } from '../../clickhouse/inserts/identifies.ts';
import type { Enricher } from '../../core/enrich/enrich.ts';
import type { DecodedEvent, LogBatch } from '../../core/event-log/port.ts';
import { clickKey, ReadClick } from '../../core/events/click-reader.ts';
import {
  CLICK_FLAGS,
  type ClickEvent,
  type ClockEvent,
  type IdentifyEvent,
  type OrderEvent,
} from '../../core/events/types.ts';
import { bytesToUuid } from '../../core/ids.ts';
import { type Unstorable, unstorableIn } from '../../core/text/storable.ts';
import type { Logger } from '../../core/tier/log.ts';
import { normalizeEmail } from '../../core/tracking/emails.ts';
import type { CorrectionReport } from '../../sql/event-log/clock-corrections.ts';
import type { DeadLetter } from '../../sql/event-log/dead-letters.ts';
import type { StreamProgress } from '../../sql/event-log/streams.ts';
import type { PermitUse } from '../../sql/links/leases.ts';
import type { WaitingReport } from '../../sql/orders/waiting-reports.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { deadBatch, deadDamage, deadEvent } from './dead-letters.ts';
import { deduplicateBatch } from './deduplicate.ts';
import type { Range } from './poll-batch.ts';

/** Decodes a batch. A malformed event does not affect its neighbors. */
export type Decode = (batch: LogBatch) => {
  events: DecodedEvent[];
  undecodable: { sequence: bigint; reason: string; bytes: Uint8Array }[];
};

/** A report of an order. PostgreSQL stores it, and a job writes what it makes of the order to ClickHouse. */
export type PreparedOrder = { event: OrderEvent; ordinal: number; sequence: bigint };

/** A range of the log, ready to store. */
export type Prepared = {
  range: Range;
  clicks: ClickRow[];
  /** Clicks of visitors or links that were erased since. */
  erased: ClickRow[];
  identifies: IdentifyRow[];
  orders: PreparedOrder[];
  /** Identifies and orders whose visitors are not known for certain yet. */
  waiting: WaitingReport[];
  deadLetters: DeadLetter[];
  /** Progress of the range's streams after it. */
  streams: StreamProgress[];
  /** Progress of these streams before it. */
  streamsBefore: StreamProgress[];
  leaseUses: PermitUse[];
  corrections: CorrectionReport[];
  /** Where counts of clicks are uncertain, because the log lacks events or PostgreSQL went back: times in microseconds. */
  gaps: { ordinal: number; fromTs: number; toTs: number }[];
  /** Some rows fill what the log had lost: ClickHouse may have them from an insert whose range was lost. */
  isSentAgain: boolean;
};

export type PrepareDependencies = {
  decode: Decode;
  enricher: Enricher;
  metrics: WorkerMetrics;
  log: Logger;
};

export type PrepareStep = (range: Range, streams: Map<string, StreamProgress>) => Prepared;

/**
 * Creates the step from a range of the log to rows: deduplicate, decode, enrich. Malformed events become dead letters.
 * Advances the given streams' progress.
 */
export function createPrepareStep(dependencies: PrepareDependencies): PrepareStep {
  const { decode, enricher, metrics, log } = dependencies;

  function addClick(into: Prepared, batch: LogBatch, stream: StreamProgress, decoded: DecodedEvent): void {
    const event = decoded.event as ClickEvent;
    try {
      const enriched = enricher.enrichClick(event);
      const key = event instanceof ReadClick ? event.key : clickKey(event);
      into.clicks.push({ event: key, enriched, ordinal: stream.ordinal, sequence: decoded.sequence });
    } catch (error) {
      into.deadLetters.push(
        deadEvent(into.range.partition, batch, decoded.sequence, `enrich_failed: ${error}`),
      );
    }
  }

  function addBatch(
    into: Prepared,
    batch: LogBatch,
    streams: Map<string, StreamProgress>,
    uses: Map<string, PermitUse>,
  ): void {
    const { visibleBefore = 0 } = streams.get(batch.streamId) ?? {};
    const found = deduplicateBatch(batch, streams);
    if (found.outcome === 'unknown_stream') {
      // Heartbeats of an unknown stream would fill the table.
      const { events, undecodable } = decode(batch);
      if (undecodable.length === 0 && events.every(({ event }) => event.kind === 'heartbeat')) return;
      into.deadLetters.push(...deadBatch(into.range.partition, batch, 'unknown_stream'));
      return;
    }
    const { stream, firstFresh, lastFresh, duplicates, gap } = found;
    const isFresh = (sequence: bigint) => sequence >= firstFresh && sequence <= lastFresh;
    if (found.isSentAgain) into.isSentAgain = true;
    if (duplicates > 0) metrics.duplicates.inc({ found: 'sequence' }, duplicates);
    if (gap) {
      const { minTs } = batch;
      into.gaps.push({ ordinal: stream.ordinal, fromTs: Math.min(visibleBefore, minTs), toTs: minTs });
      metrics.gaps.inc();
      log.error(
        { partition: into.range.partition, ...printable(gap) },
        gap.isAskedFor
          ? 'events are missing from the log; their process is asked to send them again'
          : 'events are missing from the log',
      );
    }
    if (found.isPastEpoch) {
      into.gaps.push({ ordinal: stream.ordinal, fromTs: batch.minTs, toTs: batch.maxTs });
    }
    if (duplicates === batch.count) return;
    const { events, undecodable } = decode(batch);
    for (const bad of undecodable) {
      if (!isFresh(bad.sequence)) continue;
      into.deadLetters.push({
        partition: into.range.partition,
        logOffset: batch.offset,
        streamId: batch.streamId,
        sequence: bad.sequence,
        reason: `undecodable: ${bad.reason}`,
        payload: bad.bytes,
      });
    }
    const before = into.clicks.length;
    let heartbeats = 0;
    for (const decoded of events) {
      const { event, sequence } = decoded;
      if (!isFresh(sequence)) continue;
      if (event.kind === 'click') {
        addClick(into, batch, stream, decoded);
        if (event.flags & CLICK_FLAGS.counted) countUse(uses, event.linkId, batch.streamId);
        continue;
      }
      if (event.kind === 'heartbeat') {
        heartbeats += 1;
        continue;
      }
      if (event.kind === 'clock') {
        addCorrection(into, batch, stream, event);
        continue;
      }
      const problem = unstorableReport(event);
      if (problem !== null) {
        const reason = `unstorable: \`${problem.path}\` ${problem.message}`;
        into.deadLetters.push(deadEvent(into.range.partition, batch, sequence, reason));
      } else if (event.landedAt?.some((at) => at > 0)) {
        const { reason: _, ...letter } = deadEvent(into.range.partition, batch, sequence, '');
        into.waiting.push({
          ...letter,
          streamId: batch.streamId,
          sequence,
          ordinal: stream.ordinal,
          ts: event.ts,
        });
        metrics.events.inc({ kind: event.kind });
      } else if (event.kind === 'identify') {
        into.identifies.push({ event: withEmail(event), ordinal: stream.ordinal, sequence });
      } else {
        into.orders.push({ event: withEmail(event), ordinal: stream.ordinal, sequence });
      }
    }
    metrics.events.inc({ kind: 'click' }, into.clicks.length - before);
    if (heartbeats > 0) metrics.events.inc({ kind: 'heartbeat' }, heartbeats);
  }

  return function prepare(range, streams) {
    const prepared: Prepared = {
      range,
      clicks: [],
      erased: [],
      identifies: [],
      orders: [],
      waiting: [],
      deadLetters: range.damage.map((piece) => deadDamage(range.partition, piece)),
      streams: [],
      streamsBefore: [],
      leaseUses: [],
      corrections: [],
      gaps: [],
      isSentAgain: false,
    };
    const uses = new Map<string, PermitUse>();
    const touched = new Set(range.batches.map((batch) => batch.streamId));
    for (const id of touched) {
      const stream = streams.get(id);
      if (stream) prepared.streamsBefore.push({ ...stream });
    }
    for (const batch of range.batches) addBatch(prepared, batch, streams, uses);
    metrics.events.inc({ kind: 'identify' }, prepared.identifies.length);
    metrics.events.inc({ kind: 'order' }, prepared.orders.length);
    prepared.leaseUses = [...uses.values()];
    for (const id of touched) {
      const stream = streams.get(id);
      // A copy: the next range advances the original while this one is being stored.
      if (stream) prepared.streams.push({ ...stream });
      if (stream) stream.isSetBack = false;
    }
    return prepared;
  };
}

/**
 * A correction is the only event whose time may be less than that of the event before it; the stream continues from it.
 */
function addCorrection(into: Prepared, batch: LogBatch, stream: StreamProgress, event: ClockEvent): void {
  const { first, before, fromTs, toTs, shift } = event;
  stream.visibleBefore = batch.maxTs + 1;
  stream.isSetBack = true;
  into.corrections.push({
    streamId: batch.streamId,
    ordinal: stream.ordinal,
    first: BigInt(first),
    before: BigInt(before),
    fromTs,
    toTs,
    shift,
  });
}

/** Returns what PostgreSQL can't hold of a report, which any program with the log's address may have written. */
function unstorableReport(event: IdentifyEvent | OrderEvent): Unstorable | null {
  const { email, externalUserId } = event;
  const order = event.kind === 'order' ? { order_id: event.orderId, currency: event.currency } : {};
  return unstorableIn({ email, external_user_id: externalUserId, ...order });
}

/** Emails have one form, whatever wrote the event. */
function withEmail<E extends IdentifyEvent | OrderEvent>(event: E): E {
  return { ...event, email: event.email && normalizeEmail(event.email) };
}

/** Counts a visit for its link's `max_clicks`, even when its click cannot be enriched. */
export function countUse(uses: Map<string, PermitUse>, link: Uint8Array, streamId: string): void {
  const linkId = bytesToUuid(link);
  const key = `${linkId}/${streamId}`;
  const use = uses.get(key);
  if (use) use.clicks += 1;
  else uses.set(key, { linkId, streamId, clicks: 1 });
}

function printable(gap: { streamId: string; expected: bigint; found: bigint }) {
  return { stream: gap.streamId, expected: String(gap.expected), found: String(gap.found) };
}
