import { Stack, Textarea, TextInput } from '@mantine/core';
import type { PartProps } from './editor.tsx';

/** Who the page is about. */
export function ProfileForm({ draft, change, wrong }: PartProps) {
  return (
    <Stack gap="sm" mb="xl">
      <TextInput
        label="Title"
        maxLength={60}
        value={draft.title}
        error={wrong('title')}
        onChange={(event) => change({ title: event.currentTarget.value })}
      />
      <Textarea
        label="About"
        description={`${draft.bio.length} of 280 characters`}
        maxLength={280}
        autosize
        minRows={2}
        value={draft.bio}
        error={wrong('bio')}
        onChange={(event) => change({ bio: event.currentTarget.value })}
      />
      <TextInput
        label="Picture"
        description="Web address of an image. Without one the title’s first letter is shown."
        type="url"
        placeholder="https://"
        maxLength={1024}
        value={draft.avatar_url}
        error={wrong('avatar_url')}
        onChange={(event) => change({ avatar_url: event.currentTarget.value })}
      />
    </Stack>
  );
}
