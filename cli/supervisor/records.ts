import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Logger } from '../../core/tier/log.ts';
import { endProcess } from '../processes/identity.ts';
import { clearRecord, readRecord, writeRecord } from '../processes/record-file.ts';

const SUFFIX = '.child.json';

/**
 * Records of running children on disk, so that the next start finds those of a killed supervisor. A failed write is
 * only logged.
 */
export type ChildRecords = {
  write(name: string, pid: number): void;
  clear(name: string): void;
};

/** Stores records in `<directory>/<name>.child.json`. */
export function childRecords(directory: string, log: Logger): ChildRecords {
  const attempt = (name: string, step: (path: string) => void) => {
    try {
      step(join(directory, name + SUFFIX));
    } catch (error) {
      log.warn({ child: name, err: error }, 'failed to record the child on disk; continuing');
    }
  };
  return {
    write: (name, pid) => attempt(name, (path) => writeRecord(path, pid)),
    clear: (name) => attempt(name, clearRecord),
  };
}

/**
 * Ends every recorded child of this directory that still runs, with SIGTERM, then SIGKILL. Ignores children of the
 * directory that this one was copied from.
 *
 * @param patienceMs time to exit after SIGTERM
 * @throws Error naming the child that does not exit after SIGKILL
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
        throw new Error(`${name}, process ${record.pid} of an earlier start, did not exit after SIGKILL`);
      }
      log.info({ child: name, pid: record.pid }, 'ended a child of an earlier start');
    }),
  );
  for (const original of originals) {
    log.warn(
      { original },
      'DATA_DIR is a copy of that of a running service; both services will send webhooks',
    );
  }
}
