import { Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { usePrograms } from './filters.tsx';

type Body = {
  external_user_id: string;
  email: string;
  name: string | null;
  program_id: string;
  tier: 'free';
};

/** Enrolls a person by hand, and shows the link to send them. */
export function AddReferrerDialog({ close }: { close: () => void }) {
  const programs = usePrograms().filter(({ status }) => status === 'active');
  const add = useSend<Body, ResponseOf<'/referrals/enroll', 'post'>>(
    (body) => ({ path: '/referrals/enroll', body, once: true }),
    { refresh: ['/enrollments', '/referrals'], tellFailure: false },
  );
  const { draft, text, choice, isDirty } = useDraft(
    { email: '', name: '', external_user_id: '', program_id: programs[0]?.id ?? '' },
    add.error,
  );
  const email = draft.email.trim();
  const submit = () =>
    add.mutate({
      email,
      // Who is not known by an id of the product is known by their address.
      external_user_id: draft.external_user_id.trim() || email,
      name: draft.name.trim() || null,
      program_id: draft.program_id,
      tier: 'free',
    });
  return (
    <FormDialog
      title="Add a referrer"
      close={close}
      isDirty={isDirty}
      send={add}
      submit={submit}
      label="Add"
      failed="Not added"
      fields={['email', 'name', 'external_user_id', 'program_id']}
      isReady={email !== '' && draft.program_id !== ''}
      made={add.data && <Made link={add.data.referral_link} close={close} />}
    >
      <TextInput label="Email" type="email" required data-autofocus {...text('email')} />
      <TextInput label="Name" maxLength={200} {...text('name')} />
      {programs.length > 1 && (
        <Select
          label="Program"
          data={programs.map(({ id, name }) => ({ value: id, label: name }))}
          allowDeselect={false}
          {...choice('program_id')}
        />
      )}
      <TextInput
        label="User id"
        description="In your product, if they have an account there. The email by default."
        maxLength={200}
        {...text('external_user_id')}
      />
    </FormDialog>
  );
}

function Made({ link, close }: { link: string; close: () => void }) {
  return (
    <Stack gap="md">
      <Note>Send them this link. What it brings is theirs.</Note>
      <div className="copied">
        <code>{link}</code>
        <CopyButton value={link} what="the referral link" />
      </div>
      <Group justify="flex-end">
        <Button data-autofocus onClick={close}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}
