import { Anchor, Badge, Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconRefresh } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { FoundLinks } from '../../api/links.ts';
import { useApi, useSend } from '../../api/queries.ts';
import { sentence } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import { formatAgo, formatInstant, plural } from '../../formats.ts';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { TextPress } from '../../parts/text-press.tsx';
import { DeleteDomain } from './delete-domain.tsx';
import { DnsRecords } from './dns-records.tsx';
import { DomainSettings } from './domain-settings.tsx';
import type { Domain } from './responses.ts';

const STATUSES = {
  pending: <StatusBadge sign="waiting">Waiting for DNS</StatusBadge>,
  verified: <StatusBadge sign="good">Verified</StatusBadge>,
  failing: <StatusBadge sign="bad">Failing</StatusBadge>,
};

/** A domain: its state in words, the records to set while it is not proven, and what can be done with it. */
export function DomainCard({ domain }: { domain: Domain }) {
  const { can } = useSession();
  const mayChange = can('operator');
  const isProven = domain.status === 'verified';
  const [shown, { toggle }] = useDisclosure(!isProven);
  const [editing, { open: edit, close: stopEditing }] = useDisclosure(false);
  const [deleting, { open: remove, close: stopDeleting }] = useDisclosure(false);
  const links = useLinkCount(domain);
  return (
    <Paper component="article" withBorder p="md" aria-label={domain.domain}>
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" gap="sm">
          <Group gap="xs" miw={0}>
            <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
              {domain.domain}
            </Title>
            {STATUSES[domain.status]}
            {domain.is_default && (
              <Badge variant="light" tt="none" fw={500}>
                Default
              </Badge>
            )}
          </Group>
          {mayChange && (
            <Group gap="xs">
              <CheckNow domain={domain} />
              <Button size="xs" variant="default" aria-label={`Settings of ${domain.domain}`} onClick={edit}>
                Settings
              </Button>
              <Button
                size="xs"
                variant="default"
                className="irreversible"
                aria-label={`Delete ${domain.domain}`}
                onClick={remove}
              >
                Delete
              </Button>
            </Group>
          )}
        </Group>
        <State domain={domain} />
        {(shown || !isProven) && <DnsRecords domain={domain} />}
        {domain.status !== 'pending' && (
          <Group gap="lg">
            {links !== null && (
              <Anchor component={Link} size="sm" href={`/links?domain=${encodeURIComponent(domain.domain)}`}>
                {plural(links, 'link', 'links')}
              </Anchor>
            )}
            {isProven && (
              <TextPress aria-expanded={shown} onClick={toggle}>
                {shown ? 'Hide DNS records' : 'DNS records'}
              </TextPress>
            )}
          </Group>
        )}
      </Stack>
      {editing && <DomainSettings domain={domain} close={stopEditing} />}
      {deleting && <DeleteDomain domain={domain} links={links} close={stopDeleting} />}
    </Paper>
  );
}

/** Links on the domain, archived ones too; null while unknown. */
function useLinkCount({ domain, status }: Domain): number | null {
  const found = useApi<FoundLinks>(status === 'pending' ? null : '/links/search', {
    domain,
    archived: 'include',
    figures: 'exclude',
    limit: 1,
  });
  return status === 'pending' ? 0 : (found.data?.total ?? null);
}

/** What holds now, what is wrong, and what to do. */
function State({ domain: { domain, status, problem, last_checked_at: checked } }: { domain: Domain }) {
  const last = checked && <span title={formatInstant(checked)}>{`Checked ${formatAgo(checked)}. `}</span>;
  return (
    <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
      {status === 'pending' && (
        <div>
          Set these records at the DNS provider of {domain}. They are checked each minute on the first day,
          then once a day. Links can be made on it once it is verified.
        </div>
      )}
      {status === 'failing' && (
        <div>
          Its links redirect, but the TXT record has been missing for three days. Set it again: another
          workspace that proves the domain would take it over, without your links.
        </div>
      )}
      <div>
        {last}
        {problem !== null && sentence(problem)}
      </div>
    </Text>
  );
}

function CheckNow({ domain: { id, domain } }: { domain: Domain }) {
  const check = useSend<void, Domain>(() => ({ path: `/domains/${id}/verify` }), { refresh: ['/domains'] });
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconRefresh size={14} />}
      aria-label={`Check now: ${domain}`}
      loading={check.isPending}
      onClick={() =>
        check.mutate(undefined, {
          onSuccess: ({ problem }) =>
            notifications.show(
              problem === null
                ? { message: `${domain} is verified`, color: 'hop' }
                : { message: sentence(problem), color: 'yellow' },
            ),
        })
      }
    >
      Check now
    </Button>
  );
}
