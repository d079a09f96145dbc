import type { Replica } from '../../clickhouse/replicas.ts';
import type { Copyable } from '../../sql/event-log/replica-repairs.ts';

/**
 * Copies what a replica has missed from the first source that can give it; from all of them, where each has only some
 * of it.
 *
 * @throws when no source of these settings has given it
 */
export async function copyFrom(
  replicas: readonly Replica[],
  missed: Copyable | undefined,
  copy: (source: Replica) => Promise<void>,
): Promise<void> {
  const { sources = [], areWhole = false } = missed ?? {};
  const known = replicas.filter(({ name }) => sources.includes(name));
  if (!areWhole) {
    if (known.length < sources.length || known.length === 0)
      throw new Error(`what a replica has missed is in other ones: ${sources.join(', ')}`);
    for (const source of known) await copy(source);
    return;
  }
  let failure: unknown = new Error(
    `what a replica has missed is in others than these settings name: ${sources.join(', ')}`,
  );
  for (const source of known) {
    try {
      return await copy(source);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
