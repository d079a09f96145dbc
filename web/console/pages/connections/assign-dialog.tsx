import { Radio, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useApi, useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Note } from '../../parts/note.tsx';

type Enrollments = ResponseOf<'/enrollments'>;

const MOST = 8;
/** Wait after the last typed character before it is searched for. Milliseconds. */
const TYPING = 250;

/** `eventId`: the provider's. */
type Props = { connectionId: string; eventId: string; orderId: string | null; close: () => void };

/** Assigns the purchase of an event to a referrer. */
export function AssignDialog({ connectionId, eventId, orderId, close }: Props) {
  const [search, setSearch] = useState('');
  const [partner, setPartner] = useState<string | null>(null);
  const [searched] = useDebouncedValue(search.trim(), TYPING);
  const found = useApi<Enrollments>('/enrollments', {
    search: searched === '' ? null : searched,
    limit: MOST,
  });
  const assign = useSend<string>(
    (partner_id) => ({
      path: `/connections/${connectionId}/events/${encodeURIComponent(eventId)}/assign`,
      body: { partner_id },
    }),
    {
      refresh: ['/connections', '/referrals', '/purchases', '/commissions', '/ledger'],
      done: 'Purchase assigned',
      tellFailure: false,
    },
  );
  const rows = found.data?.enrollments ?? [];
  return (
    <FormDialog
      title="Assign to a referrer"
      close={close}
      send={assign}
      submit={() => partner !== null && assign.mutate(partner, { onSuccess: close })}
      label="Assign"
      failed="Not assigned"
      isReady={partner !== null}
    >
      <Text size="sm">
        The buyer of {orderId} is the referrer's from then on: this purchase and later ones earn what the
        program pays.
      </Text>
      <TextInput
        label="Referrer"
        description="User ID, email or name."
        data-autofocus
        autoComplete="off"
        value={search}
        onChange={(typed) => setSearch(typed.currentTarget.value)}
      />
      <Radio.Group aria-label="Referrers" value={partner} onChange={setPartner}>
        <Stack gap="xs">
          {rows.map((row) => (
            <Radio
              key={row.partner_id}
              value={row.partner_id}
              label={row.external_user_id}
              description={row.name ?? row.email ?? undefined}
            />
          ))}
        </Stack>
      </Radio.Group>
      {found.data && rows.length === 0 && <Note>No referrer matches.</Note>}
    </FormDialog>
  );
}
