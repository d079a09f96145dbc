/** What is wrong with a history: the invariant that broke, and the values that show it. */
export class Violation extends Error {
  readonly invariant: string;

  constructor(invariant: string, values: string) {
    super(`${invariant}: ${values}`);
    this.name = 'Violation';
    this.invariant = invariant;
  }
}

/** A history as its seed decides it. */
export type History<Step> = {
  seed: number;
  /** Every choice that is not a step, in words: name and value. */
  options: Readonly<Record<string, string | number | boolean>>;
  steps: readonly Step[];
};

/**
 * How a history ended.
 *
 * - `held`: every invariant did.
 * - `broken`: one did not.
 * - `inconclusive`: the faults left nothing to check, such as a service that could never start.
 */
export type Outcome =
  | { verdict: 'held'; hash: number; virtualMs: number; counts: Counts }
  | { verdict: 'broken'; violation: Violation; hash: number; virtualMs: number; counts: Counts }
  | { verdict: 'inconclusive'; reason: string; hash: number; virtualMs: number; counts: Counts };

/** What happened in a history, for the summary. */
export type Counts = Readonly<Record<string, number>>;

/** A part of the product in the simulated world. */
export type Scenario<Step> = {
  name: string;
  /** Decides a history from its seed. */
  decide(seed: number): History<Step>;
  /** Plays a history. @param log called with each line of what happens */
  play(history: History<Step>, log?: (line: string) => void): Promise<Outcome>;
  /** Returns a step in words. */
  words(step: Step): string;
};
