import { useState } from 'react';

/** Links that a person has selected, and what they were selected from: another page begins without any. */
export function useSelection(ids: readonly string[]) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const chosen = ids.filter((id) => selected.has(id));
  return {
    /** Selected links of those shown. */
    chosen,
    isChosen: (id: string) => selected.has(id),
    toggle(id: string) {
      setSelected(new Set(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]));
    },
    /** Selects all, or none where all are selected. */
    toggleAll() {
      setSelected(new Set(chosen.length === ids.length ? [] : ids));
    },
    clear() {
      setSelected(new Set());
    },
  };
}
