import { parseArgs } from 'node:util';

type Defaults = Record<string, number | string | boolean>;

/**
 * Parses the command line, such as `--rounds 5 --results DIR`. The default determines the type of an option. Every
 * benchmark also accepts the options of {@link COMMON}.
 *
 * @throws Error naming the option that is unknown or not a number
 */
export function readOptions<D extends Defaults>(own: D): D & typeof COMMON {
  const defaults: Defaults = { ...COMMON, ...own };
  const { values } = parseArgs({
    options: Object.fromEntries(
      Object.entries(defaults).map(([name, value]) => [
        name,
        { type: typeof value === 'boolean' ? 'boolean' : 'string' } as const,
      ]),
    ),
  });
  const read: Defaults = { ...defaults };
  for (const [name, given] of Object.entries(values)) {
    if (given === undefined) continue;
    read[name] = typeof defaults[name] === 'number' ? numberOf(name, String(given)) : given;
  }
  return read as D & typeof COMMON;
}

const COMMON = {
  /** Rounds of each contestant. */
  rounds: 5,
  /** Directory of the report; empty: `bench/results`. */
  results: '',
};

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new Error(`\`--${name}\` is ${text}: must be a number`);
  return value;
}
