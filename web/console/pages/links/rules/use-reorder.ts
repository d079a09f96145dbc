import { type KeyboardEvent, type PointerEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';

type Handle = {
  ref: (element: HTMLElement | null) => void;
  onPointerDown: (event: PointerEvent<HTMLElement>) => void;
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
};

/**
 * Lets a person order the items of a list: with the pointer on an item's handle, or with the arrow keys on it.
 *
 * @param keys of the items, in order
 * @param move takes an item to another index
 */
export function useReorder(keys: readonly string[], move: (from: number, to: number) => void) {
  const items = useRef(new Map<string, HTMLElement>());
  const handles = useRef(new Map<string, HTMLElement>());
  const [dragged, setDragged] = useState<string | null>(null);
  /** Handle to focus once its item has moved: a browser takes the focus from an element that moves. */
  const focused = useRef<string | null>(null);
  const latest = useRef({ keys, move });
  latest.current = { keys, move };

  useEffect(() => {
    if (dragged === null) return;
    const follow = ({ clientY }: globalThis.PointerEvent) => {
      const { keys: now, move: to } = latest.current;
      const index = now.indexOf(dragged);
      // An item moves once the pointer passes the middle of its neighbor: then items of any height keep their new
      // place.
      if (clientY < middleOf(items.current.get(now[index - 1] ?? ''), Number.NEGATIVE_INFINITY)) {
        to(index, index - 1);
      } else if (clientY > middleOf(items.current.get(now[index + 1] ?? ''), Number.POSITIVE_INFINITY)) {
        to(index, index + 1);
      }
    };
    const end = () => setDragged(null);
    // Listens on the window: the handle moves in the document, and would lose a captured pointer.
    window.addEventListener('pointermove', follow);
    window.addEventListener('pointerup', end);
    window.addEventListener('pointercancel', end);
    return () => {
      window.removeEventListener('pointermove', follow);
      window.removeEventListener('pointerup', end);
      window.removeEventListener('pointercancel', end);
    };
  }, [dragged]);

  useLayoutEffect(() => {
    if (focused.current === null) return;
    handles.current.get(focused.current)?.focus();
    focused.current = null;
  });

  return {
    /** Key of the item that is being dragged, or null. */
    dragged,
    item: (key: string) => (element: HTMLElement | null) => keep(items.current, key, element),
    handle: (key: string): Handle => ({
      ref: (element) => keep(handles.current, key, element),
      onPointerDown(event) {
        if (event.button !== 0) return;
        // Prevents text selection, and scrolling by touch.
        event.preventDefault();
        event.currentTarget.focus();
        setDragged(key);
      },
      onKeyDown(event) {
        const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
        const from = keys.indexOf(key);
        if (step === 0) return;
        event.preventDefault();
        if (from + step < 0 || from + step >= keys.length) return;
        focused.current = key;
        move(from, from + step);
      },
    }),
  };
}

function keep(map: Map<string, HTMLElement>, key: string, element: HTMLElement | null): void {
  if (element) map.set(key, element);
  else map.delete(key);
}

function middleOf(element: HTMLElement | undefined, otherwise: number): number {
  if (!element) return otherwise;
  const { top, height } = element.getBoundingClientRect();
  return top + height / 2;
}

/** The list with an item at another index. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const others = list.filter((_, index) => index !== from);
  return list[from] === undefined ? others : others.toSpliced(to, 0, list[from]);
}
