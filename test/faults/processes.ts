import { type ChildProcess, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ProcessRecord, recordOf, stillRuns } from '../../cli/processes/identity.ts';
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
  return [root, ...descendants(root)].map(recordOf).filter((record) => record !== null);
}

/** Returns the process id of the embedded ClickHouse. */
export function embeddedClickHouse(service: Service): number {
  for (const pid of descendants(service.process.pid ?? 0)) {
    const command = execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
    if (command.includes('clickhouse-child')) return pid;
  }
  throw new Error('no embedded ClickHouse runs');
}

/** Returns the process id of the embedded PostgreSQL's postmaster. */
export function postmaster(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

/** Read from `/proc`: while a `ps` ran, the clicks of this process would pause, and a kill would hit nothing under way. */
function descendants(root: number): number[] {
  const found: number[] = [];
  const queue = [root];
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    const own = childrenOf(pid);
    found.push(...own);
    queue.push(...own);
  }
  return found;
}

/** Returns the children that any thread of a process started. */
function childrenOf(pid: number): number[] {
  const threads = read(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.flatMap((thread) => {
    const children = read(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')) ?? '';
    return (children.match(/\d+/g) ?? []).map(Number);
  });
}

/** Returns null for what has ended meanwhile. */
function read<T>(what: () => T): T | null {
  try {
    return what();
  } catch {
    return null;
  }
}
