import { fileURLToPath } from 'node:url';
import { bundleOf, nodeFlags, type ProgramName } from '../../cli/programs/programs.ts';

/** What Node makes of the code: a process starts with less work where one has started before. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/hoplog-compiled', import.meta.url));

/** How tests start a program of this repository, as `npm start` does: as one file, which the global setup has built. */
export function programArguments(name: ProgramName): string[] {
  return [...nodeFlags(name), bundleOf(name)];
}

/** What belongs into the environment of each such process. The `.env` of whoever runs the tests does not. */
export const PROGRAM_ENV = { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILED, ENV_FILE: '' };
