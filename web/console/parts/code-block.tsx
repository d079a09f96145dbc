import { Code, Group, Stack, Text } from '@mantine/core';
import { CopyButton } from './copy-button.tsx';

/**
 * Code with a copy button. It scrolls by keyboard too.
 *
 * @param label heading; unique on the page
 * @param copied the text to copy, if it differs from the text shown
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
