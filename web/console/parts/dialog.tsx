import { Modal, type ModalProps } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { LeaveGuard } from '../shell/leave-guard.tsx';
import { useFocusBack } from './use-focus-back.ts';

export type DialogProps = {
  title: string;
  close: () => void;
  children: ReactNode;
  size?: ModalProps['size'];
  /** A long form: wide, and as large as the screen of a phone. */
  isLong?: boolean;
  /** Has unsaved input: a press beside the dialog keeps it open, and leaving the page asks first. */
  isDirty?: boolean;
  /** Shows what can't be shown again: only a button in it closes it. */
  stays?: boolean;
};

/** A dialog. Render it only while it is open: it returns the focus to where it was. */
export function Dialog({
  title,
  close,
  children,
  size,
  isLong = false,
  isDirty = false,
  stays = false,
}: DialogProps) {
  useFocusBack();
  const isPhone = useMediaQuery('(max-width: 48em)');
  const isKept = isDirty || stays;
  return (
    <Modal
      opened
      onClose={close}
      title={title}
      size={isLong ? 'lg' : size}
      fullScreen={isLong && isPhone === true}
      closeButtonProps={{ 'aria-label': 'Close' }}
      closeOnClickOutside={!isKept}
      closeOnEscape={!isKept}
      withCloseButton={!stays}
    >
      <LeaveGuard active={isDirty} withQuery>
        Your input will be lost.
      </LeaveGuard>
      {children}
    </Modal>
  );
}
