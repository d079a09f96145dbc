import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../core/tier/log.ts';
import { writePrivate } from '../embedded/secret-file.ts';
import { endProcess, type ProcessRecord, recordOf } from '../processes/identity.ts';

const SUFFIX = '.child.json';

/** Which children run, on disk, so that the next start finds those that a killed supervisor has left. */
export type ChildRecords = {
  write(name: string, pid: number): void;
  remove(name: string): void;
};

/** Records in `<directory>/<name>.child.json`. */
export function childRecords(directory: string): ChildRecords {
  const path = (name: string) => join(directory, name + SUFFIX);
  return {
    write(name, pid) {
      writePrivate(path(name), JSON.stringify(recordOf(pid)));
    },
    remove(name) {
      rmSync(path(name), { force: true });
    },
  };
}

/**
 * Ends every recorded child that still runs: asks first, so that it flushes what it holds, then kills it.
 *
 * @param patienceMs how long a child gets to end by itself
 * @throws Error naming the child that does not even die when killed
 */
export async function endLeftovers(directory: string, log: Logger, patienceMs = 5_000): Promise<void> {
  const files = readdirSync(directory).filter((file) => file.endsWith(SUFFIX));
  await Promise.all(
    files.map(async (file) => {
      const path = join(directory, file);
      const record = readRecord(path);
      const steps = [
        ['SIGTERM', patienceMs],
        ['SIGKILL', 5_000],
      ] as const;
      if (record !== null) {
        const name = file.slice(0, -SUFFIX.length);
        if (!(await endProcess(record, steps))) {
          throw new Error(`${name}, process ${record.pid} of an earlier start, does not end`);
        }
        log.info({ child: name, pid: record.pid }, 'nothing is left of this child of an earlier start');
      }
      rmSync(path, { force: true });
    }),
  );
}

function readRecord(path: string): ProcessRecord | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ProcessRecord | null;
  } catch {
    return null;
  }
}
