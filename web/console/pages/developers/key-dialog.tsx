import { Checkbox, Group, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { SecretMade } from '../../parts/secret-made.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { type KeyKind, KIND_MEANINGS, KIND_NAMES, type NewKey } from './responses.ts';

/** The API's limit for a name. */
const LABEL_MOST = 100;
type Restriction = 'read' | 'links' | 'referrals' | 'tracking';
type Sent = {
  kind: KeyKind;
  label: string;
  scopes?: Restriction[];
  manage?: boolean;
  expires_at?: string | null;
};
type Draft = Required<Omit<Sent, 'expires_at'>> & { expires_at: string };

const RESTRICTIONS: readonly [Restriction, string][] = [
  ['read', 'Reads'],
  ['links', 'Links, folders and bio pages'],
  ['referrals', 'Referrals and payouts'],
  ['tracking', 'Tracking'],
];
const EMPTY: Draft = { kind: 'secret', label: '', scopes: [], manage: false, expires_at: '' };

/** Only a secret key has rights and an end. */
const bodyOf = ({ kind, label, scopes, manage, expires_at: expires }: Draft): Sent => ({
  kind,
  label: label.trim(),
  ...(kind === 'secret' && {
    ...(scopes.length > 0 && { scopes }),
    manage,
    expires_at: expires === '' ? null : new Date(expires).toISOString(),
  }),
});

/** Creates a key and shows it once. */
export function KeyDialog({ close }: { close: () => void }) {
  const create = useSend<Sent, NewKey>((body) => ({ path: '/keys', body }), {
    refresh: ['/keys'],
    tellFailure: false,
  });
  const { draft, change, text, check, choice } = useDraft(EMPTY, create.error);
  const { data: made } = create;
  const label = text('label');
  return (
    <FormDialog
      title={made ? 'The key is ready' : 'New key'}
      close={close}
      size="lg"
      send={create}
      submit={() => create.mutate(bodyOf(draft))}
      label="Create"
      failed="The key was not created"
      fields={['label', 'expires_at']}
      made={
        made && (
          <SecretMade
            value={made.token}
            lost="Revoke this key and create another."
            what={`${made.kind} key`}
            onDone={close}
          >
            <Text size="sm">{KIND_MEANINGS[made.kind]}</Text>
          </SecretMade>
        )
      }
    >
      <TextInput
        label="Name"
        description="What it is for, such as: checkout server. Optional."
        autoComplete="off"
        data-autofocus
        {...label}
        error={draft.label.trim().length > LABEL_MOST ? `At most ${LABEL_MOST} characters.` : label.error}
      />
      <Radio.Group label="Kind" {...choice('kind')}>
        <Stack gap="sm" mt="xs">
          {(['secret', 'publishable'] as const).map((value) => (
            <Radio key={value} value={value} label={KIND_NAMES[value]} description={KIND_MEANINGS[value]} />
          ))}
        </Stack>
      </Radio.Group>
      {draft.kind === 'secret' && (
        <>
          <Checkbox.Group
            label="Restrict to"
            description="None: everything but managing."
            value={draft.scopes}
            onChange={(scopes) => change({ scopes: scopes as Restriction[] })}
          >
            <Group gap="md" mt="xs">
              {RESTRICTIONS.map(([value, name]) => (
                <Checkbox key={value} value={value} label={name} />
              ))}
            </Group>
          </Checkbox.Group>
          <Checkbox
            label="May manage"
            description="Keys, members, workspace settings and the identity secret."
            {...check('manage')}
          />
          <TextInput
            label="Expires"
            description="Optional, in your time zone. Empty: never."
            type="datetime-local"
            {...text('expires_at')}
          />
        </>
      )}
    </FormDialog>
  );
}
