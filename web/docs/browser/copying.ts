/** How long a button shows that it has copied. Milliseconds. */
const SAID_MS = 2_000;

/** Lets each button beside a block of code copy it. */
export function setUpCopying(): void {
  document.addEventListener('click', async ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-copy]') : null;
    if (!button) return;
    const text = button.parentElement?.querySelector('pre')?.textContent ?? '';
    const done = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    button.textContent = done ? 'Copied' : 'Not copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, SAID_MS);
  });
}
