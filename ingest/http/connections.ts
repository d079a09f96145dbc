import type { TemplatedApp } from 'uWebSockets.js';

/** Open connections of visitors or of a proxy. */
export type Connections = {
  /** Resolves when no connection is open, or after `withinMs`. */
  gone(withinMs: number): Promise<void>;
};

/** Counts the connections of an app. Call it before the app listens. */
export function countConnections(app: TemplatedApp): Connections {
  let open = 0;
  let waiting: (() => void) | null = null;
  function count(_res: unknown, change: number): void {
    open += change;
    if (open === 0) waiting?.();
  }
  app.filter(count);
  return {
    gone(withinMs) {
      if (open === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const late = setTimeout(resolve, withinMs);
        waiting = () => {
          clearTimeout(late);
          resolve();
        };
      });
    },
  };
}
