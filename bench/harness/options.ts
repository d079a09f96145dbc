import { parseArgs } from 'node:util';

type Defaults = Record<string, number | string | boolean>;

/**
 * The command line as the benchmark understands it: `--rounds 5 --results DIR --profile`. What has a number as its
 * default is a number, and so on; every benchmark also takes what {@link COMMON} names.
 *
 * @throws Error naming the option, for one that is not known or that is no number
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
  /** How often each contestant has its turn. */
  rounds: 5,
  /** Folder of the report; empty: `bench/results`. */
  results: '',
};

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new Error(`--${name} ${text}: not a number`);
  return value;
}
