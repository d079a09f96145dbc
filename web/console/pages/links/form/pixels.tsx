import { SimpleGrid, TextInput } from '@mantine/core';
import { PIXEL_PLATFORMS, type PixelPlatform } from '../../../api/links.ts';
import { type FormFields, joined, type LinkFormSection } from './fields.ts';

const PLATFORM_NAMES: Record<PixelPlatform, string> = {
  facebook: 'Facebook',
  google: 'Google',
  tiktok: 'TikTok',
  linkedin: 'LinkedIn',
  x: 'X (Twitter)',
  pinterest: 'Pinterest',
};

function PixelFields({ draft, set, wrong }: FormFields) {
  return (
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
  );
}

/** Retargeting pixels, loaded before the redirect. */
export const PIXELS: LinkFormSection = {
  title: 'Retargeting pixels',
  hint: 'Facebook, Google, TikTok, and others',
  paths: /^retargeting(\.|$)/,
  words: ({ retargeting }) =>
    joined(
      ...PIXEL_PLATFORMS.map((platform) => retargeting[platform].trim() !== '' && PLATFORM_NAMES[platform]),
    ),
  Fields: PixelFields,
};
