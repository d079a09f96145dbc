import { useEffect, useState } from 'react';

/**
 * Returns the focus after a dialog that unmounts with its parent, which the library does not do.
 */
export function useFocusBack(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      const isNowhere = document.activeElement === null || document.activeElement === document.body;
      if (isNowhere && before instanceof HTMLElement) before.focus();
    },
    [before],
  );
}
