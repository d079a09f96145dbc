import { ActionIcon } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { DialogOf, lazyPage } from './lazy-page.tsx';

const DIALOG = lazyPage<{ close: () => void }>(() => import('./palette-dialog.tsx'));

/** The button of the command palette, which Ctrl K (Command K) opens too. Its code loads at the first use. */
export function Palette() {
  const [isOpen, setOpen] = useState(false);
  const [location] = useLocation();
  const opened = useRef<{ focus: Element | null; location: string } | null>(null);
  const open = () => {
    opened.current ??= { focus: document.activeElement, location };
    setOpen(true);
  };
  // In fields too: no tag is ignored.
  useHotkeys([['mod+K', open]], []);
  // A new page has set the focus itself.
  useEffect(() => {
    if (isOpen || opened.current === null) return;
    const { focus, location: before } = opened.current;
    opened.current = null;
    if (before === location && focus instanceof HTMLElement) focus.focus();
  }, [isOpen, location]);
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
      {isOpen && <DialogOf dialog={DIALOG} close={() => setOpen(false)} />}
    </>
  );
}
