import { Text, UnstyledButton } from '@mantine/core';
import { IconSelector } from '@tabler/icons-react';
import { useState } from 'react';
import { useSession } from '../api/session.ts';
import { DialogOf, lazyPage } from './lazy-page.tsx';

const DIALOG = lazyPage<{ close: () => void }>(() => import('./workspace-dialog.tsx'));

/** The name of the workspace, which opens the list of those that this browser is signed in to. */
export function WorkspaceSwitch() {
  const { workspace } = useSession();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <UnstyledButton
        className="workspace-switch"
        aria-haspopup="dialog"
        title={workspace.name}
        onPointerEnter={() => void DIALOG.load().catch(() => undefined)}
        onClick={() => setOpen(true)}
      >
        <Text c="dimmed" truncate dir="auto" component="span">
          {workspace.name}
        </Text>
        <IconSelector size={16} stroke={1.6} aria-hidden />
      </UnstyledButton>
      {isOpen && <DialogOf dialog={DIALOG} props={{ close: () => setOpen(false) }} />}
    </>
  );
}
