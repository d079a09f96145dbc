import { Anchor, Button, Checkbox, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { sentence } from '../../api/sentence.ts';
import { type Role, useSession } from '../../api/session.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { SecretMade } from '../../parts/secret-made.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { ROLE_MEANINGS, ROLE_NAMES } from '../sign-in/roles.ts';

type Sent = { email: string | null; role: Role; mail: boolean };
type Made = ResponseOf<'/members/invites', 'post'>;

/** Invites a member: by mail, or by a link that is shown once and that the owner passes on. */
export function InviteDialog({ close }: { close: () => void }) {
  const send = useSend<Sent, Made>((body) => ({ path: '/members/invites', body }), { tellFailure: false });
  const { draft, text } = useDraft<{ email: string; role: Role }>({ email: '', role: 'analyst' }, send.error);
  const { sends_mail: sendsMail } = useSession();
  const [wantsMail, setWantsMail] = useState(sendsMail);
  const isMailed = wantsMail && draft.email.trim() !== '';
  const invite = send.data?.invite;
  return (
    <FormDialog
      title="Invite a member"
      close={close}
      send={send}
      submit={() =>
        send.mutate({ ...draft, email: draft.email.trim() === '' ? null : draft.email, mail: isMailed })
      }
      label={isMailed ? 'Send the invitation' : 'Create the link'}
      failed="Not created"
      fields={['email']}
      made={
        invite &&
        (invite.mailed ? (
          <MailedInvite email={invite.email} close={close} />
        ) : (
          <SecretMade
            value={invite.url}
            lost="Create another invitation."
            what="invitation link"
            onDone={close}
          >
            <Text size="sm">
              Send it to {invite.email ?? 'the person you invite'} yourself. It works once, for 15 minutes,
              and gives the role {ROLE_NAMES[invite.role].toLowerCase()}.
            </Text>
          </SecretMade>
        ))
      }
    >
      <TextInput
        type="email"
        label="Email"
        description="Optional. Your own email creates a link to set another password or passkey."
        autoComplete="off"
        {...text('email', 'email', 'Email')}
      />
      <NativeSelect
        label="Role"
        description={sentence(ROLE_MEANINGS[draft.role])}
        data={Object.entries(ROLE_NAMES).map(([value, label]) => ({ value, label }))}
        {...text('role')}
      />
      {sendsMail && (
        <Checkbox
          label="Mail the link"
          description="Without this, or without an email, the link is shown here for you to pass on."
          checked={isMailed}
          disabled={draft.email.trim() === ''}
          onChange={(event) => setWantsMail(event.currentTarget.checked)}
        />
      )}
    </FormDialog>
  );
}

function MailedInvite({ email, close }: { email: string | null; close: () => void }) {
  return (
    <Stack gap="md">
      <Text role="status">
        The invitation is on its way to {email}. Its link works once, for three days.{' '}
        <Anchor component={Link} href="/settings?tab=mail" underline="always" onClick={close}>
          See how far it is
        </Anchor>
      </Text>
      <Group justify="flex-end">
        <Button data-autofocus onClick={close}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}
