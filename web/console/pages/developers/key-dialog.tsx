import { Alert, Button, Checkbox, Group, Modal, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { fieldError } from '../../api/failures.ts';
import { useSend } from '../../api/queries.ts';
import { sentence, sentenceOf } from '../../api/sentence.ts';
import { SecretMade, STAYS } from '../../parts/secret-made.tsx';
import { useFocusBack } from '../../parts/use-focus-back.ts';
import { type KeyKind, KIND_MEANINGS, KIND_NAMES, type NewKey } from './responses.ts';

/** In place of a secret that a repeated call did not show. */
const NOT_SHOWN = 'The response was lost. Revoke this key and create another.';

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

const RESTRICTIONS: readonly [Restriction, string][] = [
  ['read', 'Reads'],
  ['links', 'Links, folders and bio pages'],
  ['referrals', 'Referrals and payouts'],
  ['tracking', 'Tracking'],
];

/** Creates a key and shows it once. */
export function KeyDialog({ close }: { close: () => void }) {
  useFocusBack();
  const [kind, setKind] = useState<KeyKind>('secret');
  const [label, setLabel] = useState('');
  const [scopes, setScopes] = useState<string[]>([]);
  const [manage, setManage] = useState(false);
  const [expires, setExpires] = useState('');
  const create = useSend<Sent, NewKey>((body) => ({ path: '/keys', body }), {
    refresh: ['/keys'],
    tellFailure: false,
  });
  const wrong = fieldError(create.error, 'label');
  const expiryWrong = fieldError(create.error, 'expires_at');

  return (
    <Modal
      opened
      onClose={close}
      title={create.data ? 'The key is ready' : 'New key'}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
      {...(create.data && STAYS)}
    >
      {create.data ? (
        <SecretMade value={create.data.token ?? NOT_SHOWN} what={`${create.data.kind} key`} onDone={close}>
          <Text size="sm">{KIND_MEANINGS[create.data.kind]}</Text>
        </SecretMade>
      ) : (
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            create.mutate({
              kind,
              label: label.trim(),
              ...(kind === 'secret' && {
                ...(scopes.length > 0 && { scopes: scopes as Restriction[] }),
                manage,
                expires_at: expires === '' ? null : new Date(expires).toISOString(),
              }),
            });
          }}
        >
          <Stack gap="md">
            <TextInput
              label="Name"
              description="What it is for, such as: checkout server. Optional."
              autoComplete="off"
              data-autofocus
              value={label}
              error={
                label.trim().length > LABEL_MOST
                  ? `At most ${LABEL_MOST} characters.`
                  : wrong && sentence(wrong)
              }
              onChange={(event) => setLabel(event.currentTarget.value)}
            />
            <Radio.Group label="Kind" value={kind} onChange={(value) => setKind(value as KeyKind)}>
              <Stack gap="sm" mt="xs">
                {(['secret', 'publishable'] as const).map((value) => (
                  <Radio
                    key={value}
                    value={value}
                    label={KIND_NAMES[value]}
                    description={KIND_MEANINGS[value]}
                  />
                ))}
              </Stack>
            </Radio.Group>
            {kind === 'secret' && (
              <>
                <Checkbox.Group
                  label="Restrict to"
                  description="None: everything but managing."
                  value={scopes}
                  onChange={setScopes}
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
                  checked={manage}
                  onChange={(event) => setManage(event.currentTarget.checked)}
                />
                <TextInput
                  label="Expires"
                  description="Optional, in your time zone. Empty: never."
                  type="datetime-local"
                  value={expires}
                  error={expiryWrong && sentence(expiryWrong)}
                  onChange={(event) => setExpires(event.currentTarget.value)}
                />
              </>
            )}
            {create.isError && wrong === null && expiryWrong === null && (
              <Alert color="red" variant="outline" role="alert" title="The key was not created">
                {sentenceOf(create.error)}
              </Alert>
            )}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button type="submit" loading={create.isPending}>
                Create
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
