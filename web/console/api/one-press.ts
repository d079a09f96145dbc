import { useRef } from 'react';

/** A press within this time after a success counts as the second half of a double click. Milliseconds. */
const DOUBLE_CLICK = 500;

type Press<Got> = {
  content: string;
  answer: Promise<Got>;
  /** `performance.now()` time; infinite while running. */
  countsUntil: number;
};

/**
 * Runs an action once at a time. A press while it runs gets the result of the first, and so does the second press of a
 * double click after a quick response. A failed action may be retried at once. Component state would be too late: two
 * presses may come before the next render.
 *
 * @param contentOf identifies the action: after a success, another action may start at once
 * @param hold time after a success in which a press repeats the first. Milliseconds
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
