/**
 * Runs `action`; what fails in a page (cookies of a sandbox, a history that throws) costs that part alone.
 *
 * @returns undefined when it throws
 */
export const attempt = <T>(action: () => T): T | undefined => {
  try {
    return action();
  } catch (_error) {
    return;
  }
};

let hasTold = false;

/** Says once in the browser's console why the pixel can't work. */
export const tell = (why: string): void => {
  if (!hasTold) attempt(() => console.warn(`[hoplog] ${why}`));
  hasTold = true;
};
