import { Button, type ButtonProps, Group, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';

type Props = ButtonProps & {
  children: ReactNode;
  /** What is asked, such as `Delete the link go/summer?` */
  question: string;
  /** What follows from it. */
  consequence: ReactNode;
  /** The button that does it, such as `Delete`. */
  yes: string;
  /** Resolves when it is done; the question stays open while it runs and when it fails. A second press may call it again. */
  onConfirm: () => Promise<unknown>;
  pending?: boolean;
};

/** A button for what can't be taken back: asks first. */
export function ConfirmButton({
  children,
  question,
  consequence,
  yes,
  onConfirm,
  pending,
  ...button
}: Props) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" {...button} onClick={open}>
        {children}
      </Button>
      <Modal opened={opened} onClose={close} title={question} closeButtonProps={{ 'aria-label': 'Close' }}>
        <Text size="sm">{consequence}</Text>
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button
            color="red.8"
            loading={pending === true}
            onClick={() => void onConfirm().then(close, () => undefined)}
          >
            {yes}
          </Button>
        </Group>
      </Modal>
    </>
  );
}
