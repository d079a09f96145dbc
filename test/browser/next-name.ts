import type { Locator } from 'playwright-core';

/** The part of an element that the function in the page uses. The tests have no types of the DOM. */
type Named = { getAttribute(name: string): string | null; textContent: string | null };
declare const MutationObserver: new (
  seen: () => void,
) => { observe(element: Named, what: object): void; disconnect(): void };

/**
 * Watches the name of a control from now on: it may say `Copied` for two seconds only, and a busy machine may look
 * later.
 *
 * @returns a function that resolves with the next name
 */
export async function nextName(control: Locator): Promise<() => Promise<string>> {
  const watched = await control.evaluateHandle((element: Named) => {
    const nameNow = () => element.getAttribute('aria-label') ?? element.textContent ?? '';
    const before = nameNow();
    const next = new Promise<string>((resolve) => {
      const observer = new MutationObserver(() => {
        if (nameNow() === before) return;
        observer.disconnect();
        resolve(nameNow());
      });
      observer.observe(element, { attributes: true, characterData: true, childList: true, subtree: true });
    });
    // Not the promise itself, which would be awaited.
    return { next };
  });
  return () => watched.evaluate(({ next }) => next);
}
