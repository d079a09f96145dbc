import { Button, type ButtonProps, Group, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';

type Props = ButtonProps & {
  children: ReactNode;
  /** Such as `Delete the link go/summer?` */
  question: string;
  /** The consequence. */
  consequence: ReactNode;
  /** Label of the confirming button, such as `Delete`. */
  yes: string;
  /** The dialog stays open until it resolves, and after a failure. A second press may call it again. */
  onConfirm: () => Promise<unknown>;
  pending?: boolean;
};

/** A button for an irreversible action: asks for confirmation. */
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
        <Text size="sm" component="div">
          {consequence}
        </Text>
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
