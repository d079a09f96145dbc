import { Stack, Textarea, TextInput } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { sizeOf } from '../../parts/image-size.ts';
import { PictureField } from '../../parts/picture-field.tsx';
import { charactersOf, keptTo, TITLE_MOST } from './character-limit.ts';
import { ABOUT_MOST } from './edit-in-preview.ts';
import type { PartProps } from './editor.tsx';

/** Title, about text and picture. */
export function ProfileForm({ draft, change, wrong }: PartProps) {
  const latest = useRef(draft);
  useEffect(() => {
    latest.current = draft;
  });
  const readSize = async (address: string) => {
    const size = await sizeOf(address);
    if (size === null || latest.current.avatar_url !== address) return;
    change({ avatar_width: size.width, avatar_height: size.height });
  };
  return (
    <Stack gap="sm" mb="xl">
      <TextInput
        label="Title"
        value={draft.title}
        error={wrong('title')}
        onChange={keptTo(TITLE_MOST, draft.title, (title) => change({ title }))}
      />
      <Textarea
        label="About"
        description={`${charactersOf(draft.bio)} of ${ABOUT_MOST} characters`}
        autosize
        minRows={2}
        value={draft.bio}
        error={wrong('bio')}
        onChange={keptTo(ABOUT_MOST, draft.bio, (bio) => change({ bio }))}
      />
      <PictureField
        label="Picture"
        of="the page"
        description="Upload one, or enter its URL. Without one, the first letter of the title is shown."
        value={draft.avatar_url}
        error={wrong('avatar_url')}
        onChange={(address, size) =>
          change({
            avatar_url: address,
            avatar_width: size?.width ?? null,
            avatar_height: size?.height ?? null,
          })
        }
        onEntered={(address) => void readSize(address)}
      />
    </Stack>
  );
}
