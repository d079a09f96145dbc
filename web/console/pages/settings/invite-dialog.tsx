import { NativeSelect, Text, TextInput } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { sentence } from '../../api/sentence.ts';
import type { Role } from '../../api/session.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { SecretMade } from '../../parts/secret-made.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { ROLE_MEANINGS, ROLE_NAMES } from '../sign-in/roles.ts';

type Sent = { email: string | null; role: Role };
type Made = ResponseOf<'/members/invites', 'post'>;

/** Creates an invitation link. It is shown once; the owner passes it on. */
export function InviteDialog({ close }: { close: () => void }) {
  const send = useSend<Sent, Made>((body) => ({ path: '/members/invites', body }), { tellFailure: false });
  const { draft, text } = useDraft<{ email: string; role: Role }>({ email: '', role: 'analyst' }, send.error);
  const invite = send.data?.invite;
  return (
    <FormDialog
      title="Invite a member"
      close={close}
      send={send}
      submit={() => send.mutate({ ...draft, email: draft.email.trim() === '' ? null : draft.email })}
      label="Create the link"
      failed="Not created"
      fields={['email']}
      made={
        invite && (
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
        )
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
    </FormDialog>
  );
}
