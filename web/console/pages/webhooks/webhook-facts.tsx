import { Code, Group, Paper, Stack, Text } from '@mantine/core';
import { useSession } from '../../api/session.ts';
import { formatInstant } from '../../formats.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { ReplaceSecret } from '../../parts/replace-secret.tsx';
import { eventNames } from './events.ts';
import type { Webhook } from './responses.ts';
import { StateBadge } from './result-badge.tsx';
import { filterWords } from './webhook-choices.tsx';

const FORMAT_WORDS: Record<Webhook['format'], string | null> = {
  json: null,
  slack: 'Messages for Slack',
  discord: 'Messages for Discord',
  get: 'Calls of the address',
};

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
        {FORMAT_WORDS[webhook.format] && <Fact name="Format">{FORMAT_WORDS[webhook.format]}</Fact>}
        {webhook.filter && <Fact name="Only events of">{filterWords(webhook.filter)}</Fact>}
        {webhook.batch && (
          <Fact name="Clicks together">
            {`At most ${webhook.batch.max}, after ${webhook.batch.seconds} s at most`}
          </Fact>
        )}
        <Fact name="Signing secret">
          <Stack gap="xs" align="flex-start">
            <Text size="sm">Shown once, when it was created.</Text>
            {can('operator') && (
              <ReplaceSecret
                path={`/webhooks/${webhook.id}/rotate-secret`}
                refresh={['/webhooks']}
                consequence="You get a new secret. For 24 hours, messages are signed with both; after that, the old secret is no longer valid."
                after="The old secret works for another 24 hours."
              />
            )}
          </Stack>
        </Fact>
        <Fact name="Created">{formatInstant(webhook.created_at)}</Fact>
      </Facts>
    </Paper>
  );
}
