import { type KeyboardEvent, type PointerEvent, type RefObject, useEffect, useState } from 'react';

/** A row that is dragged, and where it would be. */
type Drag = { from: number; to: number };

/** Distance from the edges of the window within which a drag scrolls the page, and by how much. CSS pixels. */
const EDGE = 56;
const SCROLL = 14;

/**
 * Reorders the rows of a list by a handle in each: a drag of the mouse or a finger, or the arrow keys on the handle.
 * The rows move when the drag ends: a handle that moves in the document while it is held loses the pointer.
 *
 * @param list its children are the rows
 */
export function useRowDrag(list: RefObject<HTMLElement | null>, move: (from: number, to: number) => void) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const isDragged = drag !== null;

  useEffect(() => {
    if (!isDragged) return;
    const cancel = ({ key }: globalThis.KeyboardEvent) => {
      if (key === 'Escape') setDrag(null);
    };
    window.addEventListener('keydown', cancel);
    return () => window.removeEventListener('keydown', cancel);
  }, [isDragged]);

  /** The place of a row that is dropped at a height of the window. */
  const placeAt = (y: number, from: number) => {
    const middles = [...(list.current?.children ?? [])].map((row) => {
      const { top, height } = row.getBoundingClientRect();
      return top + height / 2;
    });
    return middles.filter((middle, index) => index !== from && middle < y).length;
  };

  return {
    /** `dragged` for the row itself; `before` or `after` for the row beside which it would be. */
    stateOf: (index: number): 'dragged' | 'before' | 'after' | undefined => {
      if (drag === null) return undefined;
      if (index === drag.from) return 'dragged';
      if (index !== drag.to || drag.to === drag.from) return undefined;
      return drag.to < drag.from ? 'before' : 'after';
    },
    handle: (index: number) => ({
      onPointerDown: (event: PointerEvent<HTMLElement>) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ from: index, to: index });
      },
      onPointerMove: ({ clientY }: PointerEvent<HTMLElement>) => {
        if (drag === null) return;
        if (clientY < EDGE) window.scrollBy(0, -SCROLL);
        if (clientY > window.innerHeight - EDGE) window.scrollBy(0, SCROLL);
        const to = placeAt(clientY, drag.from);
        if (to !== drag.to) setDrag({ ...drag, to });
      },
      onPointerUp: ({ clientY }: PointerEvent<HTMLElement>) => {
        if (drag === null) return;
        setDrag(null);
        const to = placeAt(clientY, drag.from);
        if (to !== drag.from) move(drag.from, to);
      },
      onPointerCancel: () => setDrag(null),
      onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
        const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        const to = index + step;
        if (to >= 0 && to < (list.current?.children.length ?? 0)) move(index, to);
      },
    }),
  };
}
