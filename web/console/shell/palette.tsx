import { ActionIcon } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { DialogOf, lazyPage } from './lazy-page.tsx';
import type { PaletteProps } from './palette-dialog.tsx';

const DIALOG = lazyPage<PaletteProps>(() => import('./palette-dialog.tsx'));

/** The button of the command palette, which Ctrl K (Command K) opens too. Its code loads at the first use. */
export function Palette() {
  /** Number of the opening that is shown; null: none. */
  const [opening, setOpening] = useState<number | null>(null);
  const openings = useRef(0);
  const isShown = useRef(() => true);
  const [location] = useLocation();
  const opened = useRef<{ focus: Element | null; location: string } | null>(null);
  const open = () => {
    opened.current ??= { focus: document.activeElement, location };
    // One that is closing is still here until the next frame: another takes its place.
    const isClosing = !isShown.current();
    openings.current += 1;
    const next = openings.current;
    setOpening((now) => (now === null || isClosing ? next : now));
  };
  // In fields too: no tag is ignored.
  useHotkeys([['mod+K', open]], []);
  // A new page has set the focus itself.
  useEffect(() => {
    if (opening !== null || opened.current === null) return;
    const { focus, location: before } = opened.current;
    opened.current = null;
    if (before === location && focus instanceof HTMLElement) focus.focus();
  }, [opening, location]);
  return (
    <>
      <ActionIcon
        variant="default"
        size="lg"
        aria-label="Search"
        aria-keyshortcuts="Control+K"
        title="Search (Ctrl K)"
        onPointerEnter={() => void DIALOG.load().catch(() => undefined)}
        onClick={open}
      >
        <IconSearch size={18} stroke={1.6} />
      </ActionIcon>
      {opening !== null && (
        <DialogOf
          key={opening}
          dialog={DIALOG}
          props={{ isShown, close: () => setOpening((now) => (now === opening ? null : now)) }}
        />
      )}
    </>
  );
}
