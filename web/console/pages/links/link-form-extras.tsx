import { Checkbox, Fieldset, PasswordInput, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core';
import { PIXEL_PLATFORMS, type PixelPlatform } from '../../api/links.ts';
import { viewerTimeZone } from '../../formats.ts';
import type { FormFields } from './link-form.tsx';

/** Destinations by device. */
export function TargetFields({ draft, set, wrong }: FormFields) {
  return (
    <Fieldset legend="Destinations by device">
      <Stack gap="md">
        <TextInput
          label="iPhones and iPads"
          description="Before the device. An app's address such as myapp://product/17 opens the app."
          value={draft.ios}
          error={wrong('targeting.ios')}
          onChange={(event) => set('ios', event.currentTarget.value)}
        />
        <TextInput
          label="Android"
          value={draft.android}
          error={wrong('targeting.android')}
          onChange={(event) => set('android', event.currentTarget.value)}
        />
        <TextInput
          label="Phones and tablets"
          type="url"
          value={draft.mobile}
          error={wrong('targeting.mobile')}
          onChange={(event) => set('mobile', event.currentTarget.value)}
        />
        <TextInput
          label="Computers"
          type="url"
          value={draft.desktop}
          error={wrong('targeting.desktop')}
          onChange={(event) => set('desktop', event.currentTarget.value)}
        />
      </Stack>
    </Fieldset>
  );
}

/** Password, click limit and expiry. */
export function LimitFields({ draft, set, wrong, existing }: FormFields) {
  return (
    <Fieldset legend="Limits">
      <Stack gap="md">
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput
            label="Expires"
            description={`In your time zone, ${viewerTimeZone()}.`}
            type="datetime-local"
            value={draft.expires_at}
            error={wrong('expires_at')}
            onChange={(event) => set('expires_at', event.currentTarget.value)}
          />
          <TextInput
            label="Click limit"
            description="Clicks that are redirected. After them the link is used up."
            inputMode="numeric"
            value={draft.max_clicks}
            error={wrong('max_clicks')}
            onChange={(event) => set('max_clicks', event.currentTarget.value)}
          />
        </SimpleGrid>
        <TextInput
          label="Destination after expiry"
          description="Where an expired or used-up link redirects to. Leave empty to show a notice."
          type="url"
          value={draft.expired_redirect_url}
          error={wrong('expired_redirect_url')}
          onChange={(event) => set('expired_redirect_url', event.currentTarget.value)}
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
    </Fieldset>
  );
}

const PLATFORM_NAMES: Record<PixelPlatform, string> = {
  facebook: 'Facebook',
  google: 'Google',
  tiktok: 'TikTok',
  linkedin: 'LinkedIn',
  x: 'X (Twitter)',
  pinterest: 'Pinterest',
};

/** Retargeting pixels, loaded before the redirect. */
export function PixelFields({ draft, set, wrong }: FormFields) {
  return (
    <Fieldset legend="Retargeting pixels">
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {PIXEL_PLATFORMS.map((platform) => (
          <TextInput
            key={platform}
            label={`${PLATFORM_NAMES[platform]} pixel ID`}
            spellCheck={false}
            value={draft.retargeting[platform]}
            error={wrong(`retargeting.${platform}`)}
            onChange={(event) =>
              set('retargeting', { ...draft.retargeting, [platform]: event.currentTarget.value })
            }
          />
        ))}
      </SimpleGrid>
    </Fieldset>
  );
}

/** External ID and metadata. */
export function MoreFields({ draft, set, wrong }: FormFields) {
  return (
    <Fieldset legend="API fields">
      <Stack gap="md">
        {draft.kind !== 'several' && (
          <TextInput
            label="External ID"
            description="The ID of this link in your own system. Unique in the workspace."
            maxLength={200}
            spellCheck={false}
            value={draft.external_id}
            error={wrong('external_id')}
            onChange={(event) => set('external_id', event.currentTarget.value)}
          />
        )}
        <Textarea
          label="Metadata"
          description="A JSON object of at most 4 KB."
          autosize
          minRows={2}
          maxRows={12}
          spellCheck={false}
          value={draft.metadata}
          error={wrong('metadata')}
          onChange={(event) => set('metadata', event.currentTarget.value)}
        />
      </Stack>
    </Fieldset>
  );
}
