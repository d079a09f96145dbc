import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The programs of this repository by name, and the source that each begins with. */
export const PROGRAMS = {
  start: 'cli/start.ts',
  hoplog: 'cli/hoplog.ts',
  ingest: 'ingest/main.ts',
  workers: 'workers/main.ts',
  api: 'api/main.ts',
  /** A thread of ingest and of the API. */
  shipper: 'core/event-log/kafka/shipper-thread.ts',
  /** Threads of ingest with more links than memory. */
  'links-writer': 'ingest/link-table/disk/writer-thread.ts',
  'links-reader': 'ingest/link-table/disk/reader-thread.ts',
} as const;
export type ProgramName = keyof typeof PROGRAMS;
export const PROGRAM_NAMES = Object.keys(PROGRAMS) as ProgramName[];

const QUIET = '--disable-warning=ExperimentalWarning';

/**
 * Flags of Node.js that a program is started with. Ingest collects its garbage itself: its heap is small, and V8's four
 * threads for that, where they share a core with it, keep its visitors waiting one time slice after the other.
 */
export function nodeFlags(name: ProgramName): string[] {
  return name === 'ingest' ? ['--single-threaded-gc', QUIET] : [QUIET];
}

/** The checkout. */
export const ROOT_DIR = fileURLToPath(new URL('../../', import.meta.url));
/** Where `build.ts` writes each program as one file. */
export const BUNDLES_DIR = join(ROOT_DIR, 'dist');
/** Where `build.ts` writes which packages the programs import. */
export const IMPORTS_FILE = join(BUNDLES_DIR, 'imports.json');
/** Names of packages that a program reads from `node_modules`. */
export type Imports = Record<ProgramName, string[]>;

/** The program as one file, which {@link import('./build.ts').buildPrograms} has written. */
export function bundleOf(name: ProgramName): string {
  return join(BUNDLES_DIR, `${name}.js`);
}

/** What to start a program from: a bundle starts bundles, sources start sources. */
export function programFile(name: ProgramName): string {
  const bundled = process.argv[1] !== undefined && dirname(process.argv[1]) === BUNDLES_DIR;
  return bundled ? bundleOf(name) : join(ROOT_DIR, PROGRAMS[name]);
}
