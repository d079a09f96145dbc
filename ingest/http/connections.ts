import type { TemplatedApp } from 'uWebSockets.js';

/** The connections that visitors, or a proxy in front, hold open. */
export type Connections = {
  /** Resolves when none is open any more, or after `withinMs`. */
  gone(withinMs: number): Promise<void>;
};

/** Counts connections of an app. To be called before it listens. */
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
