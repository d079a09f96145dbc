import type { Logger } from '../../tier/log.ts';
import { ownBatches } from '../journal/own-batches.ts';
import type { LogBatch, MissingRange, StreamIdentity, StreamNeeds } from '../port.ts';

export type SendAgainOptions = {
  dataDir: string;
  streamName: string;
  stream: StreamIdentity;
  log: Logger;
  onSentAgain?: (events: number) => void;
  onUnsendable?: (sequence: bigint) => void;
  isStopping: () => boolean;
  /** Most bytes of events in one call of `send`, which one batch may exceed. */
  maxBytes: number;
};

/** @param send returns the offset of its last record */
export type SendAgain = (
  needs: StreamNeeds,
  to: { topic: string; partition: number },
  send: (batches: readonly LogBatch[]) => Promise<bigint>,
) => Promise<void>;

/**
 * Creates the step that sends again, from the journal, what the log has lost and workers have not stored. Ranges are
 * sent one after the other, each once. A range has arrived once the workers' lane is past it, which may take hours.
 * What the journal no longer holds by then is given up.
 */
export function createSendAgain(options: SendAgainOptions): SendAgain {
  const { dataDir, streamName, stream, log, onSentAgain, onUnsendable, isStopping, maxBytes } = options;
  /** The end of the range that was sent last, and where. */
  let sent: { to: bigint; partition: string; offset: bigint } | null = null;
  let givenUp = -1n;

  async function* pieces({ from, to }: MissingRange): AsyncGenerator<LogBatch[]> {
    let piece: LogBatch[] = [];
    let bytes = 0;
    for await (const batch of ownBatches(dataDir, streamName, from - 1n)) {
      if (batch.streamId !== stream.streamId) continue;
      if (batch.firstSequence > to) break;
      piece.push(batch);
      bytes += batch.payload.length;
      if (bytes < maxBytes) continue;
      yield piece;
      [piece, bytes] = [[], 0];
    }
    if (piece.length > 0) yield piece;
  }

  return async function sendAgain({ missing, reached }, { topic, partition }, send) {
    const range = missing.find(({ to }) => to > givenUp);
    if (!range) return;
    if (sent?.to === range.to && (reached.get(sent.partition) ?? 0n) <= sent.offset) return;
    let events = 0;
    let offset = 0n;
    for await (const batches of pieces(range)) {
      if (isStopping()) return; // the next start sends all of it
      offset = await send(batches);
      const count = batches.reduce((sum, batch) => sum + batch.count, 0);
      events += count;
      onSentAgain?.(count);
    }
    const fields = { from: String(range.from), to: String(range.to) };
    if (events === 0) {
      givenUp = range.to;
      log.warn(fields, 'the journal no longer holds events that the event log has lost; giving them up');
      onUnsendable?.(range.to);
      return;
    }
    sent = { to: range.to, partition: `${topic}/${partition}`, offset };
    log.warn({ ...fields, events }, 'sent events again that the event log had lost');
  };
}
