import { Alert, Anchor, Code, Group, List, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { providerWords } from '../../../../core/connections/providers.ts';
import { formatAgo } from '../../formats.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ConnectionBadge, isRefusing } from './badges.tsx';
import type { Connection } from './responses.ts';
import { SecretField } from './secret-field.tsx';

/** The three steps of a connection: its address, its secret, and its first event. They stay, to look up and change. */
export function ConnectSteps({ connection }: { connection: Connection }) {
  const { provider, settings, last_event_at: last, last_refused_at: refused } = connection;
  const { name, place, secret, hasModes, restrictedKey } = providerWords(provider);
  const mode = settings.mode === 'live' ? ' in live mode,' : ' in test mode,';
  return (
    <Paper withBorder p="md" component="section" aria-label="Steps of the connection">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h3">
          {connection.status === 'active' ? 'Setup' : `Connect ${name}`}
        </Title>
        <ConnectionBadge connection={connection} />
      </Group>
      <List
        type="ordered"
        spacing="lg"
        styles={{ itemWrapper: { width: '100%' }, itemLabel: { width: '100%' } }}
      >
        <Step title={`Add a webhook in ${name}`}>
          <Text size="sm">
            In {name},{hasModes && mode} {place}
          </Text>
          <Group gap="xs" wrap="nowrap">
            <Code style={{ overflowWrap: 'anywhere' }}>{connection.webhook_url}</Code>
            <CopyButton value={connection.webhook_url} what="the address" />
          </Group>
          <Text size="sm">Select these events there:</Text>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {connection.event_types.map((type) => (
              <Code key={type} mr={6} style={{ display: 'inline-block' }}>
                {type}
              </Code>
            ))}
          </Text>
        </Step>
        <Step title="Enter its secrets here">
          {refused !== null && isRefusing(connection) && (
            <Alert color="red" variant="outline" title="A call had a wrong signature">
              The last one came {formatAgo(refused)}, and no event since. Copy the signing secret of the
              webhook at {name} again.
            </Alert>
          )}
          <SecretField
            connection={connection}
            field="signing_secret"
            label="Signing secret"
            about={secret}
            isSet={connection.signing_secret_set}
          />
          {restrictedKey !== undefined && (
            <SecretField
              connection={connection}
              field="restricted_key"
              label="Restricted key"
              about={restrictedKey}
              isSet={connection.restricted_key_set}
            />
          )}
        </Step>
        <Step title="See the first event arrive">
          <Text size="sm">
            {last === null
              ? `Send an event, or wait for the next payment: it appears below within a second.`
              : `The newest event arrived ${formatAgo(last)}.`}{' '}
            <Anchor href="/docs/connections" target="_blank" rel="noopener" underline="always">
              How a purchase finds its buyer
            </Anchor>
          </Text>
        </Step>
      </List>
    </Paper>
  );
}

const Step = ({ title, children }: { title: string; children: ReactNode }) => (
  <List.Item>
    <Stack gap="xs">
      <Text fw={600}>{title}</Text>
      {children}
    </Stack>
  </List.Item>
);
