/** What may hold the browser's way back or forward: it is asked before the router sees that the address has changed. */
export type LeaveQuestion = (event: PopStateEvent) => void;

let question: LeaveQuestion | null = null;

/** Begins to listen. Listeners of the window run in the order of their coming: call it before the router is there. */
export function listenForLeaving(): void {
  window.addEventListener('popstate', (event) => question?.(event));
}

/** Lets `next` be asked from now on; null: nobody. */
export function askBeforeLeaving(next: LeaveQuestion | null): void {
  question = next;
}
