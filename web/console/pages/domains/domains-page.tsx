import { Button, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Note } from '../../parts/note.tsx';
import { OlderRows, useCursor } from '../../parts/older-rows.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { CardsSkeleton } from '../../parts/skeletons.tsx';
import { AddDomain } from './add-domain.tsx';
import { DomainCard } from './domain-card.tsx';
import type { Domains } from './responses.ts';

/** What the page looks like with data. */
const EXAMPLE = [
  ['go.example.com', 'Verified', '12 links'],
  ['link.example.com', 'Waiting for DNS', '0 links'],
];

const PAGE_SIZE = 50;
/** Refresh interval while a domain waits for its record: the service looks each minute. Milliseconds. */
const REFRESH = 15_000;

/** The domains of the workspace: what each lacks, the records to set, and its settings. */
export default function DomainsPage() {
  const { can, workspace } = useSession();
  const domains = useApi<Domains>(
    workspace.paid ? '/domains' : null,
    { limit: PAGE_SIZE, cursor: useCursor() },
    { every: (last) => (last?.domains.some(({ status }) => status !== 'verified') ? REFRESH : false) },
  );
  const [adding, { open, close }] = useDisclosure(false);
  if (!workspace.paid) {
    return (
      <>
        <PageHeader title="Domains" />
        <EmptyState title="Domains require an active paid plan">
          With one, short links are on your own domain, such as go.example.com/sale.
        </EmptyState>
      </>
    );
  }
  const add = can('operator') && (
    <Button leftSection={<IconPlus size={18} />} onClick={open}>
      Add a domain
    </Button>
  );
  return (
    <>
      <PageHeader title="Domains">{domains.data && domains.data.domains.length > 0 && add}</PageHeader>
      <QueryView
        query={domains}
        skeleton={<CardsSkeleton height={124} maw={1_100} />}
        empty={{
          when: (data) => data.domains.length === 0 && data.next_cursor === null,
          show: (
            <EmptyState title="No domains yet" action={add} example={EXAMPLE}>
              Short links on your own domain, such as go.example.com/sale, are trusted and clicked more. You
              need access to its DNS records.
              {!can('operator') && ' Operators of the workspace add domains.'}
            </EmptyState>
          ),
        }}
      >
        {(data) => (
          <Stack gap="md" maw={1_100}>
            {data.domains.map((domain) => (
              <DomainCard key={domain.id} domain={domain} />
            ))}
            <OwnDomain isDefault={!data.domains.some(({ is_default }) => is_default)} />
            <OlderRows next={data.next_cursor} what="domains" />
          </Stack>
        )}
      </QueryView>
      {adding && <AddDomain close={close} />}
    </>
  );
}

/** Says where links are that name no domain. */
function OwnDomain({ isDefault }: { isDefault: boolean }) {
  const { urls, can } = useSession();
  const { host } = new URL(urls.short_url);
  return (
    <Note>
      {isDefault
        ? `New links are on ${host}, the domain of this service, unless they name another.${can('operator') ? ' Make a domain the default to change that.' : ''}`
        : `Links can be on ${host} too, the domain of this service.`}
    </Note>
  );
}
