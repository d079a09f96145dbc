import { setTimeout as delay } from 'node:timers/promises';
import type { StreamNeeds } from '../port.ts';

/** Longest wait for workers that store nothing: at rest they store heartbeats every ten seconds. Milliseconds. */
const PATIENCE_MS = 15_000;
const POLL_MS = 50;
/** Share of the journal's budget in use from which a stream continues: what waits needs the rest. */
const FULL = 0.5;

/** What a stream has sent to its partition. */
export type Sent = {
  /** Sequence of the newest event; -1: none. */
  sequence: bigint;
  /** As readers name it. */
  partition: string;
  /**
   * Offset of the partition's end once the stream had stopped sending. An earlier process may have sent more than this
   * one knows, so the sequence alone does not tell.
   */
  end: bigint;
};

export type Told = {
  needs: StreamNeeds;
  /** Share of the journal's budget in use. */
  fill: number;
};

/**
 * Waits until workers have stored all that a stream has sent, as long as they store and the journal has room. The
 * stream sends nothing meanwhile, so the wait ends, however far workers are behind.
 *
 * @param told returns what was last received about the stream
 * @returns whether they have
 */
export async function allStored(
  sent: Sent,
  told: () => Told,
  signal: AbortSignal,
  patienceMs = PATIENCE_MS,
): Promise<boolean> {
  let last = told().needs;
  let progressAt = performance.now();
  for (;;) {
    const { needs, fill } = told();
    // What is missing has to be sent again first, to the former partition.
    if (needs.missing.length > 0) return false;
    // What a lane that has read everything does not have, the log has lost. The next event shows the gap.
    if (reached(needs, sent) >= sent.end) return needs.stored >= sent.sequence;
    if (needs.stored > last.stored || reached(needs, sent) > reached(last, sent)) {
      progressAt = performance.now();
      last = needs;
    }
    if (fill >= FULL || performance.now() - progressAt >= patienceMs || signal.aborted) return false;
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

const reached = (needs: StreamNeeds, { partition }: Sent): bigint => needs.reached.get(partition) ?? 0n;
