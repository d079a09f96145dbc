/**
 * Runs `action`; what fails in a page (cookies of a sandbox, a history that throws) costs that part alone.
 *
 * @returns null when it throws
 */
export function attempt<T>(action: () => T): T | null {
  try {
    return action();
  } catch (_error) {
    return null;
  }
}

let hasTold = false;

/** Says once in the browser's console why the pixel can't work. */
export function tell(why: string): void {
  if (hasTold) return;
  hasTold = true;
  attempt(() => console.warn(`[hoplog] ${why}`));
}
