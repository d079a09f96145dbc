/** Asks before unsaved changes are lost. */
export type LeaveGuard = {
  /** Handles back and forward before the router sees the new URL. */
  onPop: (event: PopStateEvent) => void;
  /** Asks, and calls `go` if confirmed. */
  ask: (go: () => void) => void;
};

/** The last guard asks: it belongs to the topmost dialog. */
let guards: LeaveGuard[] = [];

/** Starts listening. Call it before the router mounts: window listeners run in order of registration. */
export function listenForLeaving(): void {
  window.addEventListener('popstate', (event) => guards.at(-1)?.onPop(event));
}

/** Registers a guard. @returns a function that removes it */
export function guardLeaving(guard: LeaveGuard): () => void {
  guards = [...guards, guard];
  return () => {
    guards = guards.filter((one) => one !== guard);
  };
}

/** Whether the page has unsaved changes. */
export const isUnsaved = (): boolean => guards.length > 0;

/** Leaves the page: at once without unsaved changes, otherwise after confirmation. */
export function leaveBy(go: () => void): void {
  const guard = guards.at(-1);
  if (guard) guard.ask(go);
  else go();
}

/** Discards unsaved changes: their owner has signed out. */
export function giveUpUnsaved(): void {
  guards = [];
}
