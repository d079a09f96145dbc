import { Anchor, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { CodeBlock } from '../parts/code-block.tsx';
import { ColorField } from '../parts/color-field.tsx';
import { isColor } from '../parts/css-colors.ts';
import { useFirstFocus } from '../parts/use-first-focus.ts';
import { type FrameLook, framedUrl, frameTag } from './frame-tag.ts';
import type { SharedDashboard } from './shared-dashboards.ts';

const THEMES: { value: FrameLook['theme']; label: string }[] = [
  { value: '', label: "The visitor's" },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

const BACKGROUNDS = [
  { value: 'theme', label: "The theme's" },
  { value: 'transparent', label: 'That of the page around it' },
  { value: 'color', label: 'A color' },
] as const;
type Background = (typeof BACKGROUNDS)[number]['value'];

/** The tag that shows a shared dashboard in another page, for the look that is chosen here. */
export function FrameTagView({ dashboard, done }: { dashboard: SharedDashboard; done: () => void }) {
  const [theme, setTheme] = useState<FrameLook['theme']>('');
  const [background, setBackground] = useState<Background>('theme');
  const [color, setColor] = useState('#ffffff');
  const chosen = { theme: '', transparent: 'transparent', color: isColor(color) ? color : '' }[background];
  const look = { theme, background: chosen };
  const first = useFirstFocus<HTMLSelectElement>();
  return (
    <Stack gap="md">
      <Text size="sm">
        Paste this tag into the page that shows the dashboard. The frame becomes as high as its content.
      </Text>
      <Group grow align="flex-start">
        <NativeSelect
          label="Theme"
          data={THEMES}
          ref={first}
          value={theme}
          onChange={(event) => setTheme(event.currentTarget.value as FrameLook['theme'])}
        />
        <NativeSelect
          label="Background"
          description={background === 'transparent' ? 'Choose the theme that your page has.' : undefined}
          data={[...BACKGROUNDS]}
          value={background}
          onChange={(event) => setBackground(event.currentTarget.value as Background)}
        />
      </Group>
      {background === 'color' && <ColorField label="Background color" value={color} onChange={setColor} />}
      <CodeBlock label="Tag" code={frameTag(dashboard, look)} wrap />
      <Group justify="space-between">
        <Anchor href={framedUrl(dashboard.url, look)} target="_blank" rel="noreferrer" size="sm">
          See how it looks
        </Anchor>
        <Button variant="default" onClick={done}>
          Back
        </Button>
      </Group>
    </Stack>
  );
}
