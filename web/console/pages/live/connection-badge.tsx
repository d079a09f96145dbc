import { Badge } from '@mantine/core';
import { IconCircleFilled, IconLoader, IconPlugConnectedX } from '@tabler/icons-react';
import type { ConnectionState } from './use-live-clicks.ts';

const STATES: Record<ConnectionState, { text: string; color: string; Icon: typeof IconLoader }> = {
  connecting: { text: 'Connecting', color: 'gray', Icon: IconLoader },
  connected: { text: 'Connected', color: 'hop', Icon: IconCircleFilled },
  broken: { text: 'Reconnecting', color: 'orange', Icon: IconPlugConnectedX },
  over: { text: 'Not connected', color: 'red', Icon: IconPlugConnectedX },
};

/** State of the live connection. */
export function ConnectionBadge({ state }: { state: ConnectionState }) {
  const { text, color, Icon } = STATES[state];
  return (
    <Badge
      variant="outline"
      color={color}
      size="lg"
      tt="none"
      // The colors lack contrast for text.
      styles={{ label: { color: 'var(--mantine-color-text)' } }}
      role="status"
      leftSection={<Icon size={12} aria-hidden="true" />}
    >
      {text}
    </Badge>
  );
}
