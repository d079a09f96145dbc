import type { History, Scenario } from './history.ts';

/** Histories that are played at most to shorten one. */
const TRIES = 400;

/**
 * Returns the history with as few steps as still break the same invariant: takes away halves, then quarters, down to
 * single steps.
 */
export async function shorten<Step>(
  scenario: Scenario<Step>,
  history: History<Step>,
  invariant: string,
): Promise<History<Step>> {
  let best = history;
  let tries = 0;

  async function breaks(candidate: History<Step>): Promise<boolean> {
    tries += 1;
    const outcome = await scenario.play(candidate);
    return outcome.verdict === 'broken' && outcome.violation.invariant === invariant;
  }

  for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = best.steps.length - size; from >= 0 && tries < TRIES; from -= size) {
      const steps = best.steps.toSpliced(from, size);
      if (await breaks({ ...best, steps })) best = { ...best, steps };
    }
  }
  return best;
}
