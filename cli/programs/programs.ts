import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Entry file of each program, by name. */
export const PROGRAMS = {
  start: 'cli/start.ts',
  hoplog: 'cli/hoplog.ts',
  ingest: 'ingest/main.ts',
  workers: 'workers/main.ts',
  api: 'api/main.ts',
  /** Process of the embedded ClickHouse. */
  'clickhouse-child': 'cli/embedded/clickhouse-child.ts',
  /** The health check of the image. */
  health: 'cli/health.ts',
  /** Thread of ingest and of the API. */
  shipper: 'core/event-log/kafka/shipper-thread.ts',
  /** Tracing, loaded by the API and workers when it is configured. */
  otlp: 'core/tier/otlp.ts',
  /** Threads of ingest whose link table exceeds memory. */
  'links-writer': 'ingest/link-table/disk/writer-thread.ts',
  'links-reader': 'ingest/link-table/disk/reader-thread.ts',
} as const;
export type ProgramName = keyof typeof PROGRAMS;
export const PROGRAM_NAMES = Object.keys(PROGRAMS) as ProgramName[];

const QUIET = '--disable-warning=ExperimentalWarning';

/**
 * V8's helper threads would delay redirects on a shared core, and ingest's heap is small. In workers they cost more CPU
 * than they save time: four of them wake for each collection of a few milliseconds (`bench/notes.md`).
 */
const ONE_THREAD = '--single-threaded-gc';
/**
 * MiB. The rows of a block live until it is stored, and V8's default young generation, 16 MiB, copies them meanwhile.
 * This size takes 0.87 of the CPU, and up to 144 MiB more memory until the workers are idle (`workers/idle-memory.ts`).
 * A process that is idle from its start does not allocate it (`bench/notes.md`).
 */
const LARGE_YOUNG_GENERATION = '--max-semi-space-size=64';

/** Returns the Node.js flags of a program. @param isRoomy whether there is enough memory to save CPU with it */
export function nodeFlags(name: ProgramName, isRoomy = true): string[] {
  if (name === 'ingest') return [ONE_THREAD, QUIET];
  return name === 'workers' && isRoomy ? [ONE_THREAD, LARGE_YOUNG_GENERATION, QUIET] : [QUIET];
}

/** Root of the checkout. */
export const ROOT_DIR = fileURLToPath(new URL('../../', import.meta.url));
/** Directory of the bundles that `build.ts` writes. */
export const BUNDLES_DIR = join(ROOT_DIR, 'dist');
/** File in which `build.ts` lists the packages that each program imports. */
export const IMPORTS_FILE = join(BUNDLES_DIR, 'imports.json');
/** Names of packages that each program loads from `node_modules`. */
export type Imports = Record<ProgramName, string[]>;

/** Returns the path of the program's bundle, written by {@link import('./build.ts').buildPrograms}. */
export function bundleOf(name: ProgramName): string {
  return join(BUNDLES_DIR, `${name}.js`);
}

/** Returns the file to start a program from: a bundle starts bundles, and a source starts sources. */
export function programFile(name: ProgramName): string {
  const bundled = process.argv[1] !== undefined && dirname(process.argv[1]) === BUNDLES_DIR;
  return bundled ? bundleOf(name) : join(ROOT_DIR, PROGRAMS[name]);
}
