import { Box, Code, Group, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSession } from '../../api/session.ts';
import { formatInstant } from '../../formats.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import type { Webhook } from './answers.ts';
import { eventNames } from './events.ts';
import { ReplaceSecret } from './replace-secret.tsx';
import { StateBadge } from './result-badge.tsx';

/** What a webhook is set to. */
export function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const { can } = useSession();
  return (
    <Table variant="vertical" layout="auto" aria-label="About the webhook">
      <Table.Tbody>
        <Fact name="Address">
          <Group gap="xs" wrap="nowrap">
            <Code style={{ overflowWrap: 'anywhere' }}>{webhook.url}</Code>
            <CopyButton value={webhook.url} what="the address" />
          </Group>
        </Fact>
        {webhook.description && <Fact name="Description">{webhook.description}</Fact>}
        <Fact name="State">
          <StateBadge webhook={webhook} />
        </Fact>
        <Fact name="Events">{eventNames(webhook.events)}</Fact>
        <Fact name="Signing secret">
          <Stack gap="xs" align="flex-start">
            <Text size="sm">Shown once, when it was made.</Text>
            {can('operator') && <ReplaceSecret webhook={webhook} />}
          </Stack>
        </Fact>
        <Fact name="Created">{formatInstant(webhook.created_at)}</Fact>
      </Table.Tbody>
    </Table>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" w={{ base: 110, sm: 200 }}>
        {name}
      </Table.Th>
      <Table.Td>
        <Box style={{ overflowWrap: 'anywhere' }}>{children}</Box>
      </Table.Td>
    </Table.Tr>
  );
}
