import { Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useApi, useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { formatDate, plural } from '../../formats.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Note } from '../../parts/note.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Section } from '../../parts/section.tsx';
import type { SignInMethods } from './own-passkeys.tsx';
import { RecoveryCodesDialog, TwoFactorDialog } from './two-factor-dialog.tsx';

type TwoFactor = ResponseOf<'/two-factor'>;
export type RecoveryCodes = ResponseOf<'/two-factor', 'post'>;

/** The member's authenticator app and recovery codes, for sign-ins by password. */
export function OwnTwoFactor() {
  const state = useApi<TwoFactor>('/two-factor');
  const ways = useApi<SignInMethods>('/passkeys');
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <Section
      title="Two-factor sign-in"
      about="After the password, a code of an authenticator app. A passkey needs none."
      action={
        state.data?.enabled_at === null &&
        ways.data?.has_password && (
          <Button variant="default" onClick={open}>
            Turn on
          </Button>
        )
      }
    >
      <QueryView query={state} lines={1}>
        {({ enabled_at, recovery_codes }) =>
          enabled_at === null ? (
            <Note>{ways.data?.has_password === false ? 'Off: you have no password.' : 'Off.'}</Note>
          ) : (
            <EnabledTwoFactor since={enabled_at} left={recovery_codes} />
          )
        }
      </QueryView>
      {opened && <TwoFactorDialog close={close} />}
    </Section>
  );
}

function EnabledTwoFactor({ since, left }: { since: string; left: number }) {
  const [codes, setCodes] = useState<string[] | null>(null);
  const replace = useSend<void, RecoveryCodes>(() => ({ path: '/two-factor/recovery-codes' }), {
    refresh: ['/two-factor'],
  });
  const disable = useSend<void>(() => ({ path: '/two-factor', method: 'DELETE' }), {
    refresh: ['/two-factor'],
    done: 'Two-factor sign-in is off',
  });
  return (
    <Group justify="space-between" gap="sm">
      <Text size="sm">
        On since {formatDate(since)}. {plural(left, 'recovery code', 'recovery codes')} left.
      </Text>
      <Group gap="xs">
        <ConfirmButton
          size="xs"
          question="Replace your recovery codes?"
          consequence="Your present recovery codes stop working."
          yes="Replace"
          pending={replace.isPending}
          onConfirm={async () => setCodes((await replace.mutateAsync()).recovery_codes)}
        >
          New recovery codes
        </ConfirmButton>
        <ConfirmButton
          size="xs"
          question="Turn off two-factor sign-in?"
          consequence="Your password alone signs you in then. Remove the entry from your app as well."
          yes="Turn off"
          pending={disable.isPending}
          onConfirm={() => disable.mutateAsync()}
        >
          Turn off
        </ConfirmButton>
      </Group>
      {codes && <RecoveryCodesDialog codes={codes} close={() => setCodes(null)} />}
    </Group>
  );
}
