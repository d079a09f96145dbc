import { Stack, Textarea, TextInput } from '@mantine/core';
import { fieldError } from '../../api/failures.ts';
import type { PartProps } from './editor.tsx';

/** Who the page is about. */
export function ProfileForm({ draft, change, error }: PartProps) {
  return (
    <Stack gap="sm" mb="xl">
      <TextInput
        label="Title"
        maxLength={60}
        value={draft.title}
        error={fieldError(error, 'title')}
        onChange={(event) => change({ title: event.currentTarget.value })}
      />
      <Textarea
        label="About"
        description={`${draft.bio.length} of 280 characters`}
        maxLength={280}
        autosize
        minRows={2}
        value={draft.bio}
        error={fieldError(error, 'bio')}
        onChange={(event) => change({ bio: event.currentTarget.value })}
      />
      <TextInput
        label="Picture"
        description="Web address of an image. Without one the title’s first letter is shown."
        type="url"
        placeholder="https://"
        value={draft.avatar_url}
        error={fieldError(error, 'avatar_url')}
        onChange={(event) => change({ avatar_url: event.currentTarget.value })}
      />
    </Stack>
  );
}
