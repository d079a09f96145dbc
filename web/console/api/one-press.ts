import { useRef } from 'react';

/** So long after it worked a press still means what was just done: the second one of a double click. Milliseconds. */
const DOUBLE_CLICK = 500;

type Press<Got> = {
  content: string;
  answer: Promise<Got>;
  /** On the clock of `performance.now()`; endless while it is under way. */
  countsUntil: number;
};

/**
 * Lets what a press starts run once at a time: a press while it is under way gets the answer of the first one, as does
 * the second press of a double click, which may come after a quick answer and while the button is still drawn. What
 * failed may be tried again at once. A state of the component would be too late: two presses may come before it is drawn.
 *
 * @param contentOf what it is about: after it worked, a press for something else is not held back
 * @param hold so long after it worked a press is still the first one's. Milliseconds
 */
export function useOnePress<Args extends unknown[], Got>(
  start: (...args: Args) => Promise<Got>,
  contentOf: (...args: Args) => string,
  hold = DOUBLE_CLICK,
): (...args: Args) => Promise<Got> {
  const last = useRef<Press<Got> | null>(null);
  return (...args) => {
    const before = last.current;
    const content = contentOf(...args);
    if (before?.countsUntil === Number.POSITIVE_INFINITY) return before.answer;
    if (before?.content === content && performance.now() < before.countsUntil) return before.answer;
    const press = { content, answer: start(...args), countsUntil: Number.POSITIVE_INFINITY };
    last.current = press;
    press.answer.then(
      () => {
        press.countsUntil = performance.now() + hold;
      },
      () => {
        press.countsUntil = 0;
      },
    );
    return press.answer;
  };
}
