import { Stack, Textarea, TextInput } from '@mantine/core';
import { type FormFields, joined, type LinkFormSection } from './fields.ts';

function ApiFields({ draft, set, wrong }: FormFields) {
  return (
    <Stack gap="md">
      {draft.channels.length < 2 && (
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
  );
}

/** External ID and metadata. */
export const API_FIELDS: LinkFormSection = {
  title: 'For developers',
  hint: 'External ID, metadata',
  paths: /^(external_id|metadata)(\.|$)/,
  words: ({ external_id, metadata, channels }) =>
    joined(channels.length < 2 && external_id.trim(), metadata.trim() !== '' && 'metadata'),
  Fields: ApiFields,
};
