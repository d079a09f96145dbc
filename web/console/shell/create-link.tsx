import { ActionIcon } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useSession } from '../api/session.ts';
import { takesText } from '../parts/takes-text.ts';
import { DialogOf, lazyPage } from './lazy-page.tsx';

const DIALOG = lazyPage<{ close: () => void }>(() => import('../pages/links/new-link-dialog.tsx'));

/** The button that creates a link on any page, as the key c does. The dialog's code loads at the first use. */
export function CreateLink() {
  const mayCreate = useSession().can('operator');
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (!mayCreate) return;
    const onKey = (event: KeyboardEvent) => {
      const { key, target, defaultPrevented, ctrlKey, metaKey, altKey } = event;
      if (key !== 'c' || defaultPrevented || ctrlKey || metaKey || altKey || takesText(target)) return;
      if (document.querySelector('[role="dialog"], [role="menu"]')) return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [mayCreate]);
  if (!mayCreate) return null;
  return (
    <>
      <ActionIcon
        variant="default"
        size="lg"
        aria-label="Create a link"
        aria-keyshortcuts="c"
        title="Create a link (c)"
        onPointerEnter={() => void DIALOG.load().catch(() => undefined)}
        onClick={() => setOpen(true)}
      >
        <IconPlus size={18} stroke={1.6} />
      </ActionIcon>
      {isOpen && <DialogOf dialog={DIALOG} props={{ close: () => setOpen(false) }} />}
    </>
  );
}
