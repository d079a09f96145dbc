import { type RefObject, useEffect, useRef } from 'react';

/**
 * Moves the focus into the item that a press adds at the end of a list. Without it the focus stays on a button that has
 * moved away, or is lost with one that is gone.
 *
 * @param count items of the list
 */
export function useFocusAdded<List extends HTMLElement>(
  count: number,
): { list: RefObject<List | null>; adding: () => void } {
  const list = useRef<List>(null);
  const isAdding = useRef(false);
  useEffect(() => {
    if (!isAdding.current || count === 0) return;
    isAdding.current = false;
    list.current?.lastElementChild?.querySelector<HTMLElement>('input, select, textarea')?.focus();
  }, [count]);
  return {
    list,
    adding: () => {
      isAdding.current = true;
    },
  };
}
