import { type RefObject, useEffect, useRef } from 'react';

/** Changes of the address: the router tells of its own, the browser of its way back and forward. */
const MOVES = ['pushState', 'replaceState', 'popstate'];

/**
 * Has a page that was opened begin at its top, and with the focus where what was pressed is gone with the page before.
 * The browser's way back and forward keeps the place.
 *
 * @param main the element around the page
 * @param location the page's path
 */
export function usePageStart(main: RefObject<HTMLElement | null>, location: string): void {
  const shown = useRef(location);
  useEffect(() => {
    let path = window.location.pathname;
    const onMove = ({ type }: Event) => {
      const before = path;
      path = window.location.pathname;
      if (type !== 'popstate' && path !== before) window.scrollTo(0, 0);
    };
    for (const name of MOVES) window.addEventListener(name, onMove);
    return () => {
      for (const name of MOVES) window.removeEventListener(name, onMove);
    };
  }, []);
  useEffect(() => {
    if (shown.current === location) return;
    shown.current = location;
    if (document.activeElement === document.body) main.current?.focus({ preventScroll: true });
  }, [main, location]);
}
