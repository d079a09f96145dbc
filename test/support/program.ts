import { fileURLToPath } from 'node:url';
import { bundleOf, nodeFlags, type ProgramName } from '../../cli/programs/programs.ts';

/** Node's compile cache: later processes start with less work. */
export const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/hoplog-compiled', import.meta.url));

/**
 * Returns the arguments that start a program of this repository in tests: as one file, like `npm start`, built by the
 * global setup.
 */
export function programArguments(name: ProgramName): string[] {
  return [...nodeFlags(name), bundleOf(name)];
}

/** Environment of each such process. It excludes the developer's `.env`. */
export const PROGRAM_ENV = { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILED, ENV_FILE: '' };
