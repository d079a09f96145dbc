import { Button, Checkbox, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { fieldError } from '../../api/failures.ts';
import { useApi, useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { sentence } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { SecretMade, STAYS } from '../../parts/secret-made.tsx';
import { Section } from '../../parts/section.tsx';

type Settings = ResponseOf<'/workspace'>;
type Secret = ResponseOf<'/identity-secret', 'post'>;

/** What pages may report of a user, and how long a changed payout address holds a payout back. */
export function ReferralTrust() {
  const settings = useApi<Settings>('/workspace');
  return (
    <Section
      title="Referrals on pages"
      about="A publishable key is in every page. These settings limit what it can change."
    >
      <QueryView query={settings} lines={4}>
        {(data) => (
          <Stack gap="lg">
            <SettingsForm key={`${data.identity_verification} ${data.payout_hold_days}`} settings={data} />
            <IdentitySecret isSet={data.identity_secret_set} />
          </Stack>
        )}
      </QueryView>
    </Section>
  );
}

function SettingsForm({ settings }: { settings: Settings }) {
  const { can } = useSession();
  const [isRequired, setRequired] = useState(settings.identity_verification === 'required');
  const [days, setDays] = useState(String(settings.payout_hold_days));
  const save = useSend<Record<string, unknown>>((body) => ({ path: '/workspace', method: 'PATCH', body }), {
    refresh: ['/workspace'],
    done: 'Settings saved',
    tellFailure: false,
  });
  const wrongDays = fieldError(save.error, 'payout_hold_days');
  const editable = can('owner');
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate({
          identity_verification: isRequired ? 'required' : 'off',
          payout_hold_days: /^\d+$/.test(days.trim()) ? Number(days) : days,
        });
      }}
    >
      <Stack gap="sm">
        <Checkbox
          label="Require signed users"
          description={
            settings.identity_secret_set
              ? 'A call with a publishable key that names a user needs its HMAC (user_hash). Others are refused.'
              : 'Create the identity secret first.'
          }
          disabled={!editable || (!settings.identity_secret_set && !isRequired)}
          checked={isRequired}
          onChange={(event) => setRequired(event.currentTarget.checked)}
        />
        <TextInput
          maw={320}
          label="Days to hold a changed payout address"
          description="Only for changes by a page without a valid user_hash."
          inputMode="numeric"
          disabled={!editable}
          value={days}
          error={wrongDays && sentence(wrongDays)}
          onChange={(event) => setDays(event.currentTarget.value)}
        />
        {save.isError && wrongDays === null && (
          <Text size="sm" c="red.8" role="alert">
            {sentence(save.error instanceof Error ? save.error.message : 'Something went wrong')}
          </Text>
        )}
        {editable && (
          <Group>
            <Button type="submit" size="xs" loading={save.isPending}>
              Save
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}

/** Creates or replaces the key of `user_hash`; it is shown once. */
function IdentitySecret({ isSet }: { isSet: boolean }) {
  const { can } = useSession();
  const make = useSend<void, Secret>(() => ({ path: '/identity-secret' }), { refresh: ['/workspace'] });
  const [isShown, setShown] = useState(false);
  if (!can('owner')) return null;
  const run = () => make.mutateAsync().then(() => setShown(true));
  return (
    <Stack gap="xs" align="flex-start">
      <Text size="sm">
        {isSet ? 'An identity secret is set.' : 'No identity secret is set.'} Your server computes user_hash
        with it.
      </Text>
      {isSet ? (
        <ConfirmButton
          size="xs"
          question="Replace the identity secret?"
          consequence="Every user_hash of the old secret is refused from now on. Your server needs the new one at once."
          yes="Replace"
          pending={make.isPending}
          onConfirm={run}
        >
          Replace the identity secret
        </ConfirmButton>
      ) : (
        <Button size="xs" variant="default" loading={make.isPending} onClick={() => void run()}>
          Create the identity secret
        </Button>
      )}
      <Modal opened={isShown} onClose={() => setShown(false)} title="Identity secret" {...STAYS}>
        {make.data && (
          <SecretMade
            value={make.data.identity_secret}
            what="identity secret"
            onDone={() => {
              setShown(false);
              make.reset();
            }}
          />
        )}
      </Modal>
    </Stack>
  );
}
