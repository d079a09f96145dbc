import { Button, type ButtonProps, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { FormDialog } from './form-dialog.tsx';

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

/** A button for an irreversible action: apart from others, and asks for confirmation. */
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
      <Button variant="default" className="irreversible" {...button} onClick={open}>
        {children}
      </Button>
      {opened && (
        <FormDialog
          title={question}
          close={close}
          send={{ error: null, isPending: pending === true }}
          submit={() => void onConfirm().then(close, () => undefined)}
          label={yes}
          isDanger
        >
          <Text size="sm" component="div">
            {consequence}
          </Text>
        </FormDialog>
      )}
    </>
  );
}
