import type { Api } from '../dependencies.ts';

/**
 * Concurrent transactions of one workspace. A workspace's writes wait for its lock anyway. Without this limit a burst
 * of them would hold every connection while waiting, and block other workspaces.
 */
const AT_A_TIME = 4;

/**
 * Runs work of a workspace within its concurrency limit, first in, first out. Waiting holds no connection.
 */
export type WorkspaceQueue = <T>(workspaceId: string, work: () => Promise<T>) => Promise<T>;

declare module 'fastify' {
  interface FastifyInstance {
    workspaceQueue: WorkspaceQueue;
  }
}

/** Adds `app.workspaceQueue`, for everything that writes in a transaction. */
export function addWorkspaceQueue(app: Api): void {
  app.decorate('workspaceQueue', createWorkspaceQueue(AT_A_TIME));
}

/** @param atATime concurrent tasks of one workspace */
export function createWorkspaceQueue(atATime: number): WorkspaceQueue {
  const lines = new Map<string, { running: number; waiting: (() => void)[] }>();
  return async (workspaceId, work) => {
    const line = lines.get(workspaceId) ?? { running: 0, waiting: [] };
    lines.set(workspaceId, line);
    if (line.running >= atATime) {
      await new Promise<void>((resolve) => line.waiting.push(resolve));
    } else {
      line.running++;
    }
    try {
      return await work();
    } finally {
      // The slot passes to the next task; it is released only when none waits.
      const next = line.waiting.shift();
      if (next) next();
      else if (--line.running === 0) lines.delete(workspaceId);
    }
  };
}
