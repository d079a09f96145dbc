import { SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useSession } from '../../../api/session.ts';
import { channelName } from '../../../formats.ts';
import { type FormFields, joined, type LinkFormSection } from './fields.ts';
import { FolderField } from './folder-field.tsx';
import { UTM_FIELDS } from './link-draft.ts';
import { UtmTemplateField } from './utm-template-field.tsx';

const UTM_LABELS = {
  utm_source: 'UTM source',
  utm_medium: 'UTM medium',
  utm_campaign: 'UTM campaign',
  utm_term: 'UTM term',
  utm_content: 'UTM content',
};

/** What an empty field means. */
function placeholderOf(field: (typeof UTM_FIELDS)[number], channels: readonly string[]): string {
  const [channel] = channels;
  if (field === 'utm_campaign') return 'The name';
  if (field === 'utm_term' || field === 'utm_content') return 'None';
  if (channel === undefined || channels.length > 1) return 'That of the channel';
  if (field === 'utm_source') return channel;
  return channel === 'google_business' ? 'local' : 'social';
}

function CampaignFields({ draft, set, fill, wrong }: FormFields) {
  const { workspace } = useSession();
  return (
    <Stack gap="md">
      <FolderField
        value={draft.folder_id}
        error={wrong('folder_id')}
        onChange={(value) => set('folder_id', value)}
      />
      {workspace.paid && <UtmTemplateField draft={draft} fill={fill} />}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {UTM_FIELDS.map((field) => (
          <TextInput
            key={field}
            label={UTM_LABELS[field]}
            placeholder={placeholderOf(field, draft.channels)}
            maxLength={255}
            spellCheck={false}
            value={draft[field]}
            error={wrong(field)}
            onChange={(event) => set(field, event.currentTarget.value)}
          />
        ))}
      </SimpleGrid>
    </Stack>
  );
}

/** Folder and UTM parameters. */
export const CAMPAIGN: LinkFormSection = {
  title: 'Campaign and UTM',
  hint: 'Folder, UTM parameters',
  paths: /^(folder_id|utm_\w+)(\.|$)/,
  words: (draft) => {
    const [channel = ''] = draft.channels;
    const utm = UTM_FIELDS.filter((field) => {
      const text = draft[field].trim();
      // A link's record also has the parameters that its channel sets.
      return text !== '' && text !== channel && !(field === 'utm_medium' && /^(social|local)$/.test(text));
    });
    return joined(
      draft.folder_id !== null && 'in a folder',
      ...utm.map((field) => `${channelName(field.slice(4))} ${draft[field].trim()}`),
    );
  },
  Fields: CampaignFields,
};
