/** What asks before something unsaved is left behind. */
export type LeaveGuard = {
  /** Asked about the browser's way back or forward before the router sees that the address has changed. */
  onPop: (event: PopStateEvent) => void;
  /** Asks the person, and does `go` where they leave. */
  ask: (go: () => void) => void;
};

/** The last one asks: what it guards lies over the rest. */
let guards: LeaveGuard[] = [];

/** Begins to listen. Listeners of the window run in the order of their coming: call it before the router is there. */
export function listenForLeaving(): void {
  window.addEventListener('popstate', (event) => guards.at(-1)?.onPop(event));
}

/** Lets `guard` be asked from now on. @returns what takes it back */
export function guardLeaving(guard: LeaveGuard): () => void {
  guards = [...guards, guard];
  return () => {
    guards = guards.filter((one) => one !== guard);
  };
}

/** Whether the page holds something unsaved. */
export const isUnsaved = (): boolean => guards.length > 0;

/** Does what takes the page away: at once where nothing would be lost by it, else when the person says so. */
export function leaveBy(go: () => void): void {
  const guard = guards.at(-1);
  if (guard) guard.ask(go);
  else go();
}

/** What is unsaved counts for nothing any more: its owner has left. */
export function giveUpUnsaved(): void {
  guards = [];
}
