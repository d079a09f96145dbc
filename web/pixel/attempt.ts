/**
 * Runs `action`, and limits the effect of an error in a page to it, such as blocked cookies in a sandbox or a history
 * that throws.
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

/** Logs to the browser's console, once, why the pixel can't work. */
export const tell = (why: string): void => {
  if (!hasTold) attempt(() => console.warn(`[hoplog] ${why}`));
  hasTold = true;
};
