import { ActionIcon } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { Suspense, useState } from 'react';
import { lazyPage } from './lazy-page.tsx';

const DIALOG = lazyPage<{ close: () => void }>(() => import('./palette-dialog.tsx'));

/** The button of the command palette, which Ctrl K (Command K) opens too. Its code loads at the first use. */
export function Palette() {
  const [isOpen, setOpen] = useState(false);
  // In fields too: no tag is ignored.
  useHotkeys([['mod+K', () => setOpen(true)]], []);
  return (
    <>
      <ActionIcon
        variant="default"
        size="lg"
        aria-label="Search"
        aria-keyshortcuts="Control+K"
        title="Search (Ctrl K)"
        onPointerEnter={() => void DIALOG.load().catch(() => undefined)}
        onClick={() => setOpen(true)}
      >
        <IconSearch size={18} stroke={1.6} />
      </ActionIcon>
      {isOpen && <Opened close={() => setOpen(false)} />}
    </>
  );
}

function Opened({ close }: { close: () => void }) {
  const [Dialog] = useState(() => DIALOG.component());
  return (
    <Suspense fallback={null}>
      <Dialog close={close} />
    </Suspense>
  );
}
