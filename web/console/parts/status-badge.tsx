import { Badge } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconClock, IconPlayerPause } from '@tabler/icons-react';
import type { ReactNode } from 'react';

const SIGNS = {
  good: IconCheck,
  waiting: IconClock,
  paused: IconPlayerPause,
  bad: IconAlertTriangle,
};

/** A status as text with an icon, never by color alone. */
export function StatusBadge({ sign, children }: { sign: keyof typeof SIGNS; children: ReactNode }) {
  const Icon = SIGNS[sign];
  return (
    <Badge
      variant="default"
      tt="none"
      fw={500}
      miw="max-content"
      leftSection={<Icon size={12} aria-hidden="true" />}
    >
      {children}
    </Badge>
  );
}
