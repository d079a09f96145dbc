import { type RefObject, useEffect, useRef } from 'react';

/** Navigation events: the router's own, and the browser's back and forward. */
const MOVES = ['pushState', 'replaceState', 'popstate'];

/**
 * Scrolls a new page to its top, and focuses its content if the focused element is gone. Back and forward keep the
 * scroll position.
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
