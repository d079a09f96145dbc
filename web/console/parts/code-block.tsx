import { Code, Group, Stack, Text } from '@mantine/core';
import { CopyButton } from './copy-button.tsx';

/**
 * Text for machines, with a button that copies it. It scrolls in itself, reachable by keyboard.
 *
 * @param label says what it is, above it; unlike any other on the page
 * @param copied what the button copies, where that is not what is shown
 * @param wrap breaks long lines instead of scrolling sideways
 */
export function CodeBlock({
  label,
  code,
  copied = code,
  wrap = false,
}: {
  label: string;
  code: string;
  copied?: string;
  wrap?: boolean;
}) {
  return (
    <Stack gap={4}>
      <Group justify="space-between" wrap="nowrap" align="flex-end">
        <Text size="sm" fw={600}>
          {label}
        </Text>
        <CopyButton value={copied} what={label} />
      </Group>
      <Code
        block
        tabIndex={0}
        role="region"
        aria-label={label}
        mah={420}
        style={{ overflow: 'auto', ...(wrap && { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }) }}
      >
        {code}
      </Code>
    </Stack>
  );
}
