import { Button, Select, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { METHOD_CHOICES } from '../../../../core/referrals/payout-method-names.ts';
import { useOneMutation } from '../../api/queries.ts';
import { plural } from '../../formats.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { downloadPayoutFile, type SavedPayoutFile } from './payout-file.ts';
import { FORMAT_CHOICES, type PayoutFormat } from './words.ts';

/** How long the button is disabled after a download: another file would pay the same balances. Milliseconds. */
const PAUSE = 1_000;

/**
 * Opens the choice of a payout file.
 *
 * @param first the format that is chosen at first
 * @param payable number of referrers that a file of that format would pay; null: unknown
 */
export function DownloadPayout({
  program,
  first,
  payable,
}: {
  program: string | null;
  first: PayoutFormat;
  payable: number | null;
}) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button size="xs" disabled={payable === null || payable === 0} onClick={() => setOpened(true)}>
        Download payout file
      </Button>
      {payable !== null && payable > 0 && (
        <SmallNote>{plural(payable, 'referrer', 'referrers')} to pay. A file changes no balance.</SmallNote>
      )}
      {opened && <Choice program={program} first={first} close={() => setOpened(false)} />}
    </>
  );
}

type ChoiceProps = { program: string | null; first: PayoutFormat; close: () => void };

function Choice({ program, first, close }: ChoiceProps) {
  const queries = useQueryClient();
  const { draft, text, choice } = useDraft({ format: first, method: '', until: '' });
  const download = useOneMutation<void, SavedPayoutFile>(
    {
      mutationFn: () =>
        downloadPayoutFile({
          program,
          format: draft.format,
          method: draft.method || null,
          until: draft.until || null,
        }),
      onSuccess: async ({ exportId, notes }) => {
        await queries.invalidateQueries({
          predicate: ({ queryKey: [path] }) => typeof path === 'string' && path.startsWith('/payouts'),
        });
        notifications.show({
          color: 'hop',
          message: [`Payout file ${exportId} saved. Pay it, then mark it paid.`, ...notes].join(' '),
          // A notification about what is not in the file stays until it is closed.
          ...(notes.length > 0 && { autoClose: false }),
        });
        await new Promise((over) => setTimeout(over, PAUSE));
        close();
      },
    },
    () => '',
    // Visibly disabled, then enabled again.
    0,
  );
  return (
    <FormDialog
      title="Payout file"
      close={close}
      send={download}
      submit={() => download.mutate()}
      label="Download"
      failed="Not downloaded"
    >
      <Select label="Format" data={FORMAT_CHOICES} allowDeselect={false} {...choice('format')} />
      {draft.format === 'csv' && (
        <Select
          label="Payout method"
          data={[{ value: '', label: 'All' }, ...METHOD_CHOICES]}
          allowDeselect={false}
          {...choice('method')}
        />
      )}
      <TextInput
        type="date"
        label="Sales before"
        description="Leave empty for all. Refunds always count."
        {...text('until')}
      />
    </FormDialog>
  );
}
