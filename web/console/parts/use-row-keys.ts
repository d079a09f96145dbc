import { useEffect, useRef } from 'react';
import { takesText } from './takes-text.ts';

type Keys = {
  /** CSS of the element of each row that takes the focus: its link, so that Enter opens it. */
  rows: string;
  /** `x` on the row with this index. */
  select?: (index: number) => void;
};

/**
 * Moves between the rows of a page's list with j and k, selects one with x, and goes to the search field with /, unless
 * a person is typing.
 */
export function useRowKeys({ rows, select }: Keys): void {
  const latest = useRef(select);
  latest.current = select;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (!['j', 'k', 'x', '/'].includes(key)) return;
      if (takesText(target)) return;
      if (document.querySelector('[role="dialog"], [role="menu"]')) return;
      const all = [...document.querySelectorAll<HTMLElement>(rows)];
      const rowOf = (element: Element) => element.closest('tr, li');
      const focused = document.activeElement && rowOf(document.activeElement);
      const at = focused ? all.findIndex((one) => rowOf(one) === focused) : -1;
      if (key === '/') {
        document.querySelector<HTMLElement>('input[type="search"]')?.focus();
      } else if (key === 'x') {
        if (at >= 0) latest.current?.(at);
      } else {
        // Without a row, j begins at the first one, and k at the last one.
        const next = key === 'j' ? at + 1 : at < 0 ? all.length - 1 : at - 1;
        all[Math.max(0, Math.min(all.length - 1, next))]?.focus();
      }
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [rows]);
}
