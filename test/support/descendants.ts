import { readdirSync, readFileSync } from 'node:fs';

/**
 * Returns the process ids of a process's descendants, from Linux's `/proc`. A call of `ps` would pause the test process
 * meanwhile.
 */
export function descendantsOf(root: number): number[] {
  const found = childrenOf(root);
  for (const pid of found) found.push(...childrenOf(pid));
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

/** Returns null for a process that has ended meanwhile. */
function read<T>(what: () => T): T | null {
  try {
    return what();
  } catch {
    return null;
  }
}
