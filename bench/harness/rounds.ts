import { progress } from './bench.ts';

/** A contestant of a comparison. */
export type Contestant<M> = {
  name: string;
  /** Measures one round. @param round from 0 */
  measure(round: number): Promise<M>;
};

/**
 * Measures contestants alternately, because a shared machine is slower for minutes at a time.
 *
 * @returns the measurements of each contestant, by round
 */
export async function alternate<M>(
  rounds: number,
  contestants: readonly Contestant<M>[],
): Promise<Map<string, M[]>> {
  const measured = new Map<string, M[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, measure } of contestants) {
      const measurement = await measure(round);
      measured.get(name)?.push(measurement);
      progress(`round ${round + 1} of ${rounds}, ${name}: ${JSON.stringify(measurement, rounded)}`);
    }
  }
  return measured;
}

/** Returns the measurements of one contestant. @throws Error for an unknown name */
export function ofContestant<M>(measured: ReadonlyMap<string, M[]>, name: string): M[] {
  const found = measured.get(name);
  if (!found) throw new Error(`${name} was not measured`);
  return found;
}

function rounded(_key: string, value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries(value);
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value;
}
