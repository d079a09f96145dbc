import { Code, Group, Paper, Stack, Text } from '@mantine/core';
import { useSession } from '../../api/session.ts';
import { formatInstant } from '../../formats.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { eventNames } from './events.ts';
import { ReplaceSecret } from './replace-secret.tsx';
import type { Webhook } from './responses.ts';
import { StateBadge } from './result-badge.tsx';

/** Settings of a webhook. */
export function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const { can } = useSession();
  return (
    <Paper withBorder p="md" component="section" aria-label="Webhook details">
      <Facts>
        <Fact name="Address">
          <Group gap="xs" wrap="nowrap">
            <Code style={{ overflowWrap: 'anywhere' }}>{webhook.url}</Code>
            <CopyButton value={webhook.url} what="the address" />
          </Group>
        </Fact>
        {webhook.description && <Fact name="Description">{webhook.description}</Fact>}
        <Fact name="Status">
          <StateBadge webhook={webhook} />
        </Fact>
        <Fact name="Events">{eventNames(webhook.events)}</Fact>
        <Fact name="Signing secret">
          <Stack gap="xs" align="flex-start">
            <Text size="sm">Shown once, when it was created.</Text>
            {can('operator') && <ReplaceSecret webhook={webhook} />}
          </Stack>
        </Fact>
        <Fact name="Created">{formatInstant(webhook.created_at)}</Fact>
      </Facts>
    </Paper>
  );
}
