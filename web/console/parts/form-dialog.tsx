import { Alert, Button, Group, Stack } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { fieldError } from '../api/failures.ts';
import { sentenceOf } from '../api/sentence.ts';
import { Dialog, type DialogProps } from './dialog.tsx';

type FormProps = {
  /** The change that it sends. */
  send: { error: unknown; isPending: boolean };
  submit: () => void;
  /** Label of the button that sends. */
  label: string;
  /** Title of a failure, such as `Not added`. */
  failed?: string;
  /** Paths of the request whose failures the fields show. */
  fields?: readonly string[];
  /** The text of a failure, or null for none; by default the API's message if it is about none of `fields`. */
  failure?: ReactNode;
  /** Whether the input is complete enough to be sent. */
  isReady?: boolean;
  /** Whether what it does can't be undone: only the press of its button does it, not the Enter key in a field. */
  isDanger?: boolean;
  /** Label of the cancel button. */
  cancel?: string;
  /** At the left of the buttons. */
  aside?: ReactNode;
  /** When it becomes true, the focus moves to the wrong field, as after a failure. */
  isWrong?: boolean;
};

type Props = DialogProps & FormProps & { /** In place of the form after a success. */ made?: ReactNode };

/** For a form that changes the page only: nothing to wait for. */
export const AT_ONCE = { error: null, isPending: false };

/** A dialog with a form that sends a change: its fields, the failure that is at none of them, and the buttons. */
export function FormDialog({ title, size, isLong, isDirty, stays, made = null, ...form }: Props) {
  return (
    <Dialog
      title={title}
      close={form.close}
      size={size}
      isLong={isLong}
      isDirty={isDirty && made === null}
      stays={stays || made !== null}
    >
      {made ?? <DialogForm {...form} />}
    </Dialog>
  );
}

/** The form of a {@link FormDialog}, for a dialog that has more. */
export function DialogForm({
  close,
  children,
  send,
  submit,
  label,
  failed,
  fields = [],
  failure = failureBeside(send.error, fields),
  isReady = true,
  isDanger = false,
  cancel = 'Cancel',
  aside,
  isWrong = false,
}: FormProps & Pick<DialogProps, 'close' | 'children'>) {
  const form = useRef<HTMLFormElement>(null);
  const { error } = send;
  useEffect(() => {
    if (error || isWrong)
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [role="alert"]')?.focus();
  }, [error, isWrong]);
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !isDanger) submit();
      }}
    >
      <Stack gap="md">
        {children}
        {failure !== null && (
          <Alert color="red" variant="outline" role="alert" tabIndex={-1} title={failed}>
            {failure}
          </Alert>
        )}
        <Group justify={aside ? 'space-between' : 'flex-end'}>
          {aside}
          <Group>
            <Button variant="default" onClick={close}>
              {cancel}
            </Button>
            <Button
              {...(isDanger ? { color: 'red.8', onClick: submit } : { type: 'submit' })}
              disabled={!isReady}
              loading={send.isPending}
            >
              {label}
            </Button>
          </Group>
        </Group>
      </Stack>
    </form>
  );
}

/** The message of a failure that is about none of these fields. */
function failureBeside(error: unknown, fields: readonly string[]): string | null {
  if (error === null || fields.some((path) => fieldError(error, path) !== null)) return null;
  return sentenceOf(error);
}
