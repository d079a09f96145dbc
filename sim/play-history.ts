import { asViolation, type Counts, type History, type Outcome, type Verdict } from './history.ts';
import { enter, World } from './world/world.ts';

/** A part of the product in a world of its own, to which the steps of a history happen. */
export type Player<Step> = {
  /** Starts what runs before the first step. */
  begin?(): Promise<void>;
  /** @throws {Violation} when an invariant broke */
  step(step: Step): Promise<void>;
  /** Ends every fault, and checks what has to hold then. @throws {Violation} */
  end(): Promise<void>;
  /** Counts of what happened, for the summary. */
  counts(): Counts;
};

/**
 * Plays a history in a new world.
 *
 * @param given.salt keeps the world's choices apart from those that the seed made for the history
 * @param log called with each line of what happens
 */
export async function playHistory<Step>(
  history: History<Step>,
  given: { salt: number; words(step: Step): string; create(world: World): Player<Step> },
  log?: (line: string) => void,
): Promise<Outcome> {
  const world = new World(history.seed ^ given.salt);
  enter(world);
  const stamp = () => `${(world.sinceBoot() / 1_000).toFixed(3)} s`;
  if (log) world.onLog = (process, line) => log(`    ${stamp()} ${process} ${line}`);
  const player = given.create(world);
  const verdict = await verdictOf(async () => {
    await player.begin?.();
    for (const step of history.steps) {
      log?.(`${stamp()} ${given.words(step)}`);
      await player.step(step);
    }
    log?.(`${stamp()} every fault ends`);
    await player.end();
  });
  return { ...verdict, hash: world.hash, virtualMs: world.sinceBoot(), counts: player.counts() };
}

async function verdictOf(play: () => Promise<void>): Promise<Verdict> {
  try {
    await play();
    return { verdict: 'held' };
  } catch (error) {
    return { verdict: 'broken', violation: asViolation(error) };
  }
}
