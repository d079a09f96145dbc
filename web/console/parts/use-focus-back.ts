import { useEffect, useState } from 'react';

/**
 * For a dialog that goes together with what shows it, where the library gives no focus back: whoever works by keyboard
 * goes on where they were.
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
