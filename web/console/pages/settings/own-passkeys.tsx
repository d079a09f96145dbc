import { Anchor, Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { callApi } from '../../api/call.ts';
import { useApi, useOneMutation, useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { formatAgo, formatDate } from '../../formats.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Note } from '../../parts/note.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Section } from '../../parts/section.tsx';
import { makePasskey, pageByName, passkeyFailure, passkeysWork } from '../sign-in/passkeys.ts';
import { PlainList } from './plain-list.tsx';

/** How the member may sign in: passkeys, and whether there is a password. */
export type SignInMethods = ResponseOf<'/passkeys'>;
type Passkey = SignInMethods['passkeys'][number];

/** The member's passkeys. */
export function OwnPasskeys() {
  const ways = useApi<SignInMethods>('/passkeys');
  const queries = useQueryClient();
  const add = useOneMutation<void, unknown>({
    mutationFn: async () =>
      callApi('/passkeys', { method: 'POST', body: { passkey: await makePasskey('/passkeys/options') } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['/passkeys'] });
      notifications.show({ message: 'The passkey was added', color: 'hop' });
    },
    onError: (error) => notifications.show({ message: passkeyFailure(error), color: 'red' }),
  });
  return (
    <Section
      title="Passkeys"
      about="Sign in with the fingerprint, face or PIN of a device, or with a security key."
      action={
        passkeysWork() && (
          <Button variant="default" loading={add.isPending} onClick={() => add.mutate()}>
            Add a passkey
          </Button>
        )
      }
    >
      <QueryView
        query={ways}
        lines={2}
        empty={{ when: ({ passkeys }) => passkeys.length === 0, show: <NoPasskeys /> }}
      >
        {({ passkeys }) => (
          <PlainList label="Your passkeys">
            {passkeys.map((passkey) => (
              <PasskeyItem key={passkey.id} passkey={passkey} />
            ))}
          </PlainList>
        )}
      </QueryView>
    </Section>
  );
}

function NoPasskeys() {
  const byName = pageByName();
  return (
    <Note>
      No passkeys yet.{' '}
      {!passkeysWork() && byName && (
        <>
          Passkeys work with host names, not with IP addresses:{' '}
          <Anchor href={byName} underline="always">
            open the console as localhost
          </Anchor>{' '}
          to add one.
        </>
      )}
    </Note>
  );
}

function PasskeyItem({ passkey }: { passkey: Passkey }) {
  const remove = useSend<void>(() => ({ path: `/passkeys/${passkey.id}`, method: 'DELETE' }), {
    refresh: ['/passkeys'],
    done: 'The passkey was removed',
  });
  return (
    <li>
      <Group justify="space-between" gap="xs">
        <div>
          <Text>{passkey.label}</Text>
          <Note>
            Added {formatDate(passkey.created_at)},{' '}
            {passkey.last_used_at ? `last used ${formatAgo(passkey.last_used_at)}` : 'never used'}
          </Note>
        </div>
        <ConfirmButton
          size="xs"
          aria-label={`Remove the passkey ${passkey.label}`}
          question={`Remove the passkey ${passkey.label}?`}
          consequence="You can no longer sign in with it. Remove it from your device as well."
          yes="Remove"
          pending={remove.isPending}
          onConfirm={() => remove.mutateAsync()}
        >
          Remove
        </ConfirmButton>
      </Group>
    </li>
  );
}
