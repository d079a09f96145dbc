import { type RefObject, useEffect, useRef } from 'react';

/**
 * Focuses an element when it first appears. The attribute `autofocus` counts only while a document loads.
 *
 * @returns the element's `ref`
 */
export function useFirstFocus<Element extends HTMLElement>(active = true): RefObject<Element | null> {
  const ref = useRef<Element>(null);
  useEffect(() => {
    if (active) ref.current?.focus({ preventScroll: true });
  }, [active]);
  return ref;
}
