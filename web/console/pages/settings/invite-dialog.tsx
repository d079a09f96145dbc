import { Button, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { fieldError, messageOf } from '../../api/failures.ts';
import { useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { sentence } from '../../api/sentence.ts';
import type { Role } from '../../api/session.ts';
import { SecretMade, STAYS } from '../../parts/secret-made.tsx';
import { ROLE_MEANINGS, ROLE_NAMES } from '../sign-in/roles.ts';
import { SignInFailure } from '../sign-in/sign-in-failure.tsx';

/** In place of a secret that a repeated call did not show. */
const NOT_SHOWN = 'The response was lost. Create another invitation.';

type Sent = { email: string | null; role: Role };
type Made = ResponseOf<'/members/invites', 'post'>;

/** Creates an invitation link. It is shown once; the owner passes it on. */
export function InviteDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [isMade, setMade] = useState(false);
  const close = () => {
    setMade(false);
    onClose();
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title="Invite a member"
      closeButtonProps={{ 'aria-label': 'Close' }}
      {...(isMade && STAYS)}
    >
      {/* Mounted while it is open: the next invitation begins empty. */}
      <InviteForm onMade={() => setMade(true)} onClose={close} />
    </Modal>
  );
}

function InviteForm({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('analyst');
  const send = useSend<Sent, Made>((body) => ({ path: '/members/invites', body }), { tellFailure: false });
  const wrong = fieldError(send.error, 'email');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send.mutate({ email: email.trim() === '' ? null : email, role }, { onSuccess: onMade });
  };

  if (send.data) {
    const { invite } = send.data;
    return (
      <SecretMade value={invite.url ?? NOT_SHOWN} what="invitation link" onDone={onClose}>
        <Text size="sm">
          Send it to {invite.email ?? 'the person you invite'} yourself. It works once, for 15 minutes, and
          gives the role {ROLE_NAMES[invite.role].toLowerCase()}.
        </Text>
      </SecretMade>
    );
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        {send.isError && !wrong && <SignInFailure message={messageOf(send.error)} />}
        <TextInput
          type="email"
          label="Email"
          description="Optional. Your own email creates a link to set another password or passkey."
          autoComplete="off"
          value={email}
          error={wrong && sentence(`email ${wrong}`)}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <NativeSelect
          label="Role"
          description={sentence(ROLE_MEANINGS[role])}
          data={Object.entries(ROLE_NAMES).map(([value, label]) => ({ value, label }))}
          value={role}
          onChange={(event) => setRole(event.currentTarget.value as Role)}
        />
        <Group justify="flex-end" mt="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={send.isPending}>
            Create the link
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
