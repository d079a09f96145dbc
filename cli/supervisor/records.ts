import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Logger } from '../../core/tier/log.ts';
import { endProcess } from '../processes/identity.ts';
import { clearRecord, readRecord, writeRecord } from '../processes/record-file.ts';

const SUFFIX = '.child.json';

/**
 * Which children run, on disk, so that the next start finds those that a killed supervisor has left. A disk that refuses a record
 * stops nothing.
 */
export type ChildRecords = {
  write(name: string, pid: number): void;
  clear(name: string): void;
};

/** Records in `<directory>/<name>.child.json`. */
export function childRecords(directory: string, log: Logger): ChildRecords {
  const attempt = (name: string, step: (path: string) => void) => {
    try {
      step(join(directory, name + SUFFIX));
    } catch (error) {
      log.warn({ child: name, err: error }, 'failed to record this child on disk; continuing');
    }
  };
  return {
    write: (name, pid) => attempt(name, (path) => writeRecord(path, pid)),
    clear: (name) => attempt(name, clearRecord),
  };
}

/**
 * Ends every recorded child of this directory that still runs: asks first, so that it flushes what it holds, then kills it.
 * Children of a directory that this one is a copy of are left alone.
 *
 * @param patienceMs how long a child gets to end by itself
 * @throws Error naming the child that does not even die when killed
 */
export async function endLeftovers(directory: string, log: Logger, patienceMs = 5_000): Promise<void> {
  const files = readdirSync(directory).filter((file) => file.endsWith(SUFFIX));
  const originals = new Set<string>();
  await Promise.all(
    files.map(async (file) => {
      const path = join(directory, file);
      const name = file.slice(0, -SUFFIX.length);
      const recorded = readRecord(path);
      if (recorded.kind === 'foreign') originals.add(dirname(recorded.record.path));
      if (recorded.kind !== 'own') return;
      const { record } = recorded;
      const steps = [
        ['SIGTERM', patienceMs],
        ['SIGKILL', 5_000],
      ] as const;
      if (!(await endProcess(record, steps))) {
        throw new Error(`${name}, process ${record.pid} of an earlier start, does not end`);
      }
      log.info({ child: name, pid: record.pid }, 'ended this child of an earlier start');
    }),
  );
  for (const original of originals) {
    log.warn(
      { original },
      'DATA_DIR is a copy of a service that still runs: its children are left alone, and both send webhooks',
    );
  }
}
