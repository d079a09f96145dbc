/** What is wrong with a history: the invariant that broke, and the values that show it. */
export class Violation extends Error {
  readonly invariant: string;

  constructor(invariant: string, values: string) {
    super(`${invariant}: ${values}`);
    this.name = 'Violation';
    this.invariant = invariant;
  }
}

/** Returns what an error says of a history: a process that fails breaks an invariant too. */
export function asViolation(error: unknown): Violation {
  if (error instanceof Violation) return error;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new Violation('no process fails', text);
}

/** A history as its seed decides it. */
export type History<Step> = {
  seed: number;
  /** Every choice that is not a step, in words: name and value. */
  options: Readonly<Record<string, string | number | boolean>>;
  steps: readonly Step[];
};

/** Every invariant held, or one broke. */
export type Verdict = { verdict: 'held' } | { verdict: 'broken'; violation: Violation };

/** How a history ended. */
export type Outcome = { hash: number; virtualMs: number; counts: Counts } & Verdict;

/** What happened in a history, for the summary. */
export type Counts = Readonly<Record<string, number>>;

/** A part of the product in the simulated world. */
export type Scenario<Step> = {
  name: string;
  /** Starts what it needs of the real world, before its clocks are replaced. */
  prepare?(): Promise<unknown>;
  /** Decides a history from its seed. */
  decide(seed: number): History<Step>;
  /** Plays a history. @param log called with each line of what happens */
  play(history: History<Step>, log?: (line: string) => void): Promise<Outcome>;
  /** Returns a step in words. */
  words(step: Step): string;
};
