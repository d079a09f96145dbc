import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useOneMutation } from '../../api/queries.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { plural } from '../../formats.ts';
import { useFocusBack } from '../../parts/use-focus-back.ts';
import { downloadPayoutFile, type PayoutFileOptions } from './payout-file.ts';
import { METHOD_CHOICES } from './words.ts';

/** How long the button is disabled after a download: another file would pay the same balances. Milliseconds. */
const PAUSE = 1_000;

const FORMATS: { value: PayoutFileOptions['format']; label: string }[] = [
  { value: 'csv', label: 'CSV with all fields' },
  { value: 'paypal', label: 'PayPal mass payment' },
  { value: 'wise', label: 'Wise batch payment' },
];

/**
 * Opens the choice of a payout file.
 *
 * @param payable number of referrers that a file of everything would pay; null: unknown
 */
export function DownloadPayout({ program, payable }: { program: string | null; payable: number | null }) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button size="xs" disabled={payable === null || payable === 0} onClick={() => setOpened(true)}>
        Download payout file
      </Button>
      {payable !== null && payable > 0 && (
        <Text size="xs" c="dimmed">
          {plural(payable, 'referrer', 'referrers')} to pay. A file changes no balance.
        </Text>
      )}
      {opened && <Choice program={program} close={() => setOpened(false)} />}
    </>
  );
}

function Choice({ program, close }: { program: string | null; close: () => void }) {
  useFocusBack();
  const queries = useQueryClient();
  const [format, setFormat] = useState<PayoutFileOptions['format']>('csv');
  const [method, setMethod] = useState('');
  const [until, setUntil] = useState('');
  const download = useOneMutation<void, string>(
    {
      mutationFn: () => downloadPayoutFile({ program, format, method: method || null, until: until || null }),
      onSuccess: async (exportId) => {
        await queries.invalidateQueries({
          predicate: ({ queryKey: [path] }) => typeof path === 'string' && path.startsWith('/payouts'),
        });
        notifications.show({
          color: 'hop',
          message: `Payout file ${exportId} saved. Pay it, then mark it paid.`,
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
    <Modal opened onClose={close} title="Payout file" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          download.mutate();
        }}
      >
        <Stack gap="sm">
          <Select
            label="Format"
            data={FORMATS}
            value={format}
            allowDeselect={false}
            onChange={(value) => setFormat(FORMATS.find((one) => one.value === value)?.value ?? 'csv')}
          />
          {format === 'csv' && (
            <Select
              label="Payout method"
              data={[{ value: '', label: 'All' }, ...METHOD_CHOICES]}
              value={method}
              allowDeselect={false}
              onChange={(value) => setMethod(value ?? '')}
            />
          )}
          <TextInput
            type="date"
            label="Sales before"
            description="Leave empty for all. Refunds always count."
            value={until}
            onChange={(event) => setUntil(event.currentTarget.value)}
          />
          {download.isError && (
            <Text size="sm" c="red.8" role="alert">
              {sentenceOf(download.error)}
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={download.isPending}>
              Download
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
