import { Checkbox, PasswordInput, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { formatCount, formatInstantIn, viewerTimeZone } from '../../../formats.ts';
import { AddressField } from '../../../parts/address-field.tsx';
import { type FormFields, joined, type LinkFormSection } from './fields.ts';

const inWords = (local: string) => {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? local : formatInstantIn(date.toISOString(), viewerTimeZone());
};

function ScheduleFields({ draft, set, wrong }: FormFields) {
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput
          label="Starts"
          description="Until then visitors get the page for unknown links."
          type="datetime-local"
          value={draft.starts_at}
          error={wrong('starts_at')}
          onChange={(event) => set('starts_at', event.currentTarget.value)}
        />
        <TextInput
          label="Expires"
          description={`In your time zone, ${viewerTimeZone()}.`}
          type="datetime-local"
          value={draft.expires_at}
          error={wrong('expires_at')}
          onChange={(event) => set('expires_at', event.currentTarget.value)}
        />
      </SimpleGrid>
      <AddressField
        label="Destination after expiry"
        description="Also of a link whose clicks are used up. Leave empty to show a notice."
        value={draft.expired_redirect_url}
        error={wrong('expired_redirect_url')}
        onChange={(value) => set('expired_redirect_url', value)}
      />
    </Stack>
  );
}

/** When a link begins and ends. */
export const SCHEDULE: LinkFormSection = {
  title: 'Start and expiry',
  hint: 'From when, until when, and what follows',
  paths: /^(starts_at|expires_at|expired_redirect_url)$/,
  words: (draft) =>
    joined(
      draft.starts_at !== '' && `from ${inWords(draft.starts_at)}`,
      draft.expires_at !== '' && `until ${inWords(draft.expires_at)}`,
      draft.expired_redirect_url.trim() !== '' && 'then another destination',
    ),
  Fields: ScheduleFields,
};

function LimitFields({ draft, set, wrong, existing }: FormFields) {
  return (
    <Stack gap="md">
      <TextInput
        label="Click limit"
        description="Clicks that are redirected. After them the link is used up."
        inputMode="numeric"
        value={draft.max_clicks}
        error={wrong('max_clicks')}
        onChange={(event) => set('max_clicks', event.currentTarget.value)}
      />
      <PasswordInput
        label={existing?.password_protected ? 'New password' : 'Password'}
        description={
          existing?.password_protected
            ? 'The link has a password. Leave empty to keep it.'
            : 'Visitors must enter it.'
        }
        autoComplete="new-password"
        maxLength={200}
        value={draft.password}
        error={wrong('password')}
        onChange={(event) => set('password', event.currentTarget.value)}
      />
      {existing?.password_protected && (
        <Checkbox
          label="Remove the password"
          checked={draft.remove_password}
          disabled={draft.password !== ''}
          onChange={(event) => set('remove_password', event.currentTarget.checked)}
        />
      )}
    </Stack>
  );
}

/** Password and click limit. */
export const LIMITS: LinkFormSection = {
  title: 'Limits and password',
  hint: 'Click limit, password',
  paths: /^(max_clicks|password)$/,
  words: (draft, existing) => {
    const hasPassword = draft.password !== '' || (existing?.password_protected && !draft.remove_password);
    const count = draft.max_clicks.trim();
    return joined(
      count !== '' && `${/^\d+$/.test(count) ? formatCount(Number(count)) : count} clicks`,
      hasPassword === true && 'password',
    );
  },
  Fields: LimitFields,
};
