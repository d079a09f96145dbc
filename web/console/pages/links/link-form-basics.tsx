import {
  Checkbox,
  Fieldset,
  MultiSelect,
  SegmentedControl,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { CREATABLE_CHANNELS } from '../../../../core/enrich/channels.ts';
import type { Tags } from '../../api/links.ts';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { channelName } from '../../formats.ts';
import { FolderField } from './folder-field.tsx';
import type { LinkDraft } from './link-draft.ts';
import type { FormFields } from './link-form.tsx';

const CHANNELS = CREATABLE_CHANNELS.map((key) => ({ value: key, label: channelName(key) }));

const KINDS: { value: LinkDraft['kind']; label: string }[] = [
  { value: 'one', label: 'One channel' },
  { value: 'several', label: 'Several channels' },
  { value: 'smart', label: 'Smart Link' },
];

/** Label of the checkbox, which the error of the destination names. */
export const ELSEWHERE = 'The destination is an external site';

const KIND_NOTES: Record<LinkDraft['kind'], string> = {
  one: 'One short link for posts on this channel.',
  several: 'One short link per channel, all with the same destination.',
  smart: 'One short link for every channel. The channel is detected for each click.',
};

/** Destination, channels, slug and name. */
export function BasicFields(fields: FormFields) {
  const { draft, set, wrong, existing } = fields;
  const { workspace, urls } = useSession();
  const tags = useApi<Tags>('/links/tags');
  return (
    <Fieldset legend="Link">
      <Stack gap="md">
        <TextInput
          label="Destination URL"
          description="Where the link redirects to. Starts with https://."
          type="url"
          required
          maxLength={2_048}
          value={draft.destination_url}
          error={wrong('destination_url')}
          onChange={(event) => set('destination_url', event.currentTarget.value)}
        />
        <TextInput
          label="Name"
          description={
            existing
              ? 'Name of the campaign. It changes for all its links.'
              : 'Name of the campaign of this link.'
          }
          required
          maxLength={200}
          value={draft.name}
          error={wrong('name')}
          onChange={(event) => set('name', event.currentTarget.value)}
        />
        {!existing && <ChannelFields {...fields} />}
        <TextInput
          label="Slug"
          description={`The part after ${urls.short_url}/. ${
            existing
              ? 'The old slug stays reserved for this link but stops redirecting.'
              : draft.kind === 'several'
                ? 'The channel is appended for each link. Leave empty to generate slugs.'
                : 'Leave empty to generate one.'
          }`}
          required={existing !== null}
          maxLength={64}
          autoCapitalize="none"
          spellCheck={false}
          value={draft.slug}
          error={wrong('slug')}
          onChange={(event) => set('slug', event.currentTarget.value)}
        />
        {!existing && (
          <Checkbox
            label={ELSEWHERE}
            description={
              workspace.primary_domain
                ? `Your own site is ${workspace.primary_domain}.`
                : 'The first destination that is not external sets the domain of your own site.'
            }
            checked={draft.external}
            error={wrong('external')}
            onChange={(event) => set('external', event.currentTarget.checked)}
          />
        )}
        <TagsInput
          label="Tags"
          description="Press Enter after each tag."
          data={(tags.data?.tags ?? []).map(({ tag }) => tag)}
          maxTags={50}
          maxLength={50}
          value={draft.tags}
          error={wrong('tags')}
          onChange={(value) => set('tags', value)}
          clearable
          clearButtonProps={{ 'aria-label': 'Remove all tags' }}
        />
        <FolderField
          value={draft.folder_id}
          error={wrong('folder_id')}
          onChange={(value) => set('folder_id', value)}
        />
        <TextInput
          label="UTM campaign"
          description={
            existing
              ? undefined
              : 'Sent to the destination as utm_campaign. Leave empty to use the name of the campaign.'
          }
          maxLength={255}
          value={draft.utm_campaign}
          error={wrong('utm_campaign')}
          onChange={(event) => set('utm_campaign', event.currentTarget.value)}
        />
      </Stack>
    </Fieldset>
  );
}

function ChannelFields({ draft, set, wrong }: FormFields) {
  // Three columns do not fit on a phone.
  const isNarrow = useMediaQuery('(max-width: 30em)');
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="Link type"
        orientation={isNarrow ? 'vertical' : 'horizontal'}
        data={KINDS}
        value={draft.kind}
        onChange={(kind) => set('kind', kind)}
        aria-describedby="kind-note"
      />
      <Text id="kind-note" size="sm" c="dimmed">
        {KIND_NOTES[draft.kind]}
      </Text>
      {draft.kind === 'one' && (
        <Select
          label="Channel"
          placeholder="Choose a channel"
          data={CHANNELS}
          searchable
          required
          value={draft.channel === '' ? null : draft.channel}
          error={wrong('channel')}
          onChange={(value) => set('channel', value ?? '')}
        />
      )}
      {draft.kind === 'several' && (
        <MultiSelect
          label="Channels"
          placeholder={draft.channels.length === 0 ? 'Choose channels' : ''}
          data={CHANNELS}
          searchable
          required
          value={draft.channels}
          error={wrong('channels') ?? wrong('channel')}
          onChange={(value) => set('channels', value)}
        />
      )}
    </Stack>
  );
}
