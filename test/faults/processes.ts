import { type ChildProcess, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ProcessRecord, recordOf, stillRuns } from '../../cli/processes/identity.ts';
import { descendantsOf } from '../support/descendants.ts';
import type { Service } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Kills the supervisor, every tier and every database at once, like a power cut that spares the page cache. */
export async function killEverything(service: Service): Promise<void> {
  const family = familyOf(service);
  for (const { pid } of family) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
  const running = () => family.filter(stillRuns);
  await until('the end of every process', running, (left) => left.length === 0, { intervalMs: 10 });
}

/** Returns the running processes of the supervisor, its children and their children. */
export function familyOf(service: { process: ChildProcess }): ProcessRecord[] {
  const root = service.process.pid;
  if (root === undefined) throw new Error('the service has no process');
  return [root, ...descendantsOf(root)].map(recordOf).filter((record) => record !== null);
}

/** Returns the process id of the embedded ClickHouse. */
export function embeddedClickHouse(service: Service): number {
  for (const pid of descendantsOf(service.process.pid ?? 0)) {
    const command = execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
    if (command.includes('clickhouse-child')) return pid;
  }
  throw new Error('no embedded ClickHouse runs');
}

/** Returns the process id of the embedded PostgreSQL's postmaster. */
export function postmaster(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}
