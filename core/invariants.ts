import { AssertionError } from 'node:assert';
import { Counter, type Registry } from 'prom-client';

/**
 * Conditions that hold unless Hoplog has a bug or a database was changed by hand, checked where data crosses a border.
 *
 * - `lane_forward`: the offset of a lane never moves back.
 * - `block_month`: a block of clicks has rows of one month. ClickHouse stores such a block in full or not at all.
 * - `replicas_in_step`: a lane advances only when a replica of ClickHouse has what is before its offset.
 * - `moves_sum_to_zero`: entries that move an amount between accounts sum to zero.
 * - `refund_within_rest`: a refund reverses at most what is left of a commission.
 * - `payout_equals_entries`: a payout pays each commission the sum of its ledger entries.
 */
const INVARIANTS = [
  'lane_forward',
  'block_month',
  'replicas_in_step',
  'moves_sum_to_zero',
  'refund_within_rest',
  'payout_equals_entries',
] as const;

export type Invariant = (typeof INVARIANTS)[number];

/** Counts of the process: a broken invariant is a fault of the program, in any part of it. */
const broken = new Map<Invariant, number>(INVARIANTS.map((name) => [name, 0]));

/**
 * Throws unless the condition holds, and counts the failure in `hoplog_invariant_failures_total`. The caller then
 * writes nothing.
 *
 * @param message names the values
 * @throws {AssertionError}
 */
export function assertInvariant(name: Invariant, holds: boolean, message: () => string): asserts holds {
  if (holds) return;
  broken.set(name, brokenCount(name) + 1);
  throw new AssertionError({ message: `invariant ${name}: ${message()}`, stackStartFn: assertInvariant });
}

/** Returns how often the invariant was broken in this process. */
export function brokenCount(name: Invariant): number {
  return broken.get(name) ?? 0;
}

/** Registers the count of broken invariants. Each is exposed from the start, so that `increase()` sees the first. */
export function exposeInvariants(registry: Registry): void {
  new Counter({
    name: 'hoplog_invariant_failures_total',
    help: 'Checks that found data which only a bug or a change by hand explains, by invariant.',
    labelNames: ['invariant'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const [invariant, count] of broken) this.inc({ invariant }, count);
    },
  });
}
