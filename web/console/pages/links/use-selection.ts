import { useCallback, useLayoutEffect, useRef, useState } from 'react';

/** The links that a person has selected on the shown page. Another page starts without a selection. */
export function useSelection(ids: readonly string[]) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const chosen = ids.filter((id) => selected.has(id));
  const shown = useRef(ids);
  useLayoutEffect(() => {
    shown.current = ids;
  });
  /** The same function in every render: rows that are given it need not render again. */
  const toggle = useCallback((id: string) => {
    setSelected((before) => {
      const kept = shown.current.filter((one) => before.has(one));
      return new Set(kept.includes(id) ? kept.filter((one) => one !== id) : [...kept, id]);
    });
  }, []);
  return {
    /** Selected links of those shown. */
    chosen,
    isChosen: (id: string) => selected.has(id),
    toggle,
    /** Selects all, or none where all are selected. */
    toggleAll() {
      setSelected(new Set(chosen.length === ids.length ? [] : ids));
    },
    clear() {
      setSelected(new Set());
    },
  };
}
