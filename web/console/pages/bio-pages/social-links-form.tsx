import { ActionIcon, Button, Group, NativeSelect, Stack, TextInput, Title } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { newId, replaced } from './draft.ts';
import type { PartProps } from './editor.tsx';
import { fieldKey } from './problems.ts';
import { chosenOf, PLATFORMS } from './theme-choices.ts';

const MOST = 12;

/** Links to social profiles, shown as icons. */
export function SocialLinksForm({ draft, change, wrong }: PartProps) {
  const { social_links: links } = draft;
  return (
    <>
      <Title order={2} size="h4" mb="sm">
        Social profiles
      </Title>
      <Stack gap="sm">
        {links.map((link, index) => {
          const platform = PLATFORMS.find(({ value }) => value === link.platform)?.label ?? link.platform;
          return (
            <Group key={link.key} gap="xs" align="flex-start" wrap="nowrap">
              <NativeSelect
                aria-label={`Platform of profile ${index + 1}`}
                data={PLATFORMS}
                value={link.platform}
                w={{ base: 132, xs: 150 }}
                onChange={(event) =>
                  change({
                    social_links: replaced(links, index, {
                      ...link,
                      platform: chosenOf(PLATFORMS, event.currentTarget.value),
                    }),
                  })
                }
              />
              <TextInput
                aria-label={`Address of profile ${index + 1}, ${platform}`}
                placeholder={link.platform === 'email' ? 'you@example.com' : 'https://'}
                maxLength={2048}
                value={link.url}
                error={wrong(fieldKey('social_links', link.key, 'url'))}
                flex={1}
                onChange={(event) =>
                  change({
                    social_links: replaced(links, index, { ...link, url: event.currentTarget.value }),
                  })
                }
              />
              <ActionIcon
                variant="default"
                size={36}
                aria-label={`Remove profile ${index + 1}, ${platform}`}
                onClick={() => change({ social_links: links.filter(({ key }) => key !== link.key) })}
              >
                <IconTrash size={18} stroke={1.6} />
              </ActionIcon>
            </Group>
          );
        })}
      </Stack>
      <Button
        mt="sm"
        variant="default"
        leftSection={<IconPlus size={18} stroke={1.6} />}
        disabled={links.length >= MOST}
        onClick={() => change({ social_links: [...links, { key: newId(), platform: 'instagram', url: '' }] })}
      >
        Add a profile
      </Button>
    </>
  );
}
