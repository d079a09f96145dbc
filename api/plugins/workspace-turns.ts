import type { Api } from '../dependencies.ts';

/**
 * Transactions of one workspace that may hold a connection at a time. Writes of a workspace wait for each other's lock
 * anyway; without this bound a burst of them would hold every connection while it waits, and other workspaces with it.
 */
const AT_A_TIME = 4;

/** Runs work of a workspace when it is its turn, first come first served. Waiting costs no connection. */
export type WorkspaceTurns = <T>(workspaceId: string, work: () => Promise<T>) => Promise<T>;

declare module 'fastify' {
  interface FastifyInstance {
    workspaceTurns: WorkspaceTurns;
  }
}

/** Offers `app.workspaceTurns` to whatever writes in a transaction. */
export function addWorkspaceTurns(app: Api): void {
  app.decorate('workspaceTurns', createWorkspaceTurns(AT_A_TIME));
}

/** @param atATime how much work of one workspace runs at a time */
export function createWorkspaceTurns(atATime: number): WorkspaceTurns {
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
      // The turn goes to the next in line; only when nobody waits is there one less.
      const next = line.waiting.shift();
      if (next) next();
      else if (--line.running === 0) lines.delete(workspaceId);
    }
  };
}
