import { Button, Group, Stack, Table, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { useApi } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { channelName, formatInstant } from '../../formats.ts';
import { deviceOf, placeOf } from '../../parts/click-words.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { GeoCredit } from '../../parts/geo-credit.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { Note } from '../../parts/note.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { LongTextCell } from '../../parts/scroll-table.tsx';
import { VisitorLink } from '../../parts/visitor-link.tsx';

/** What the page looks like with data. */
const EXAMPLE = [
  ['ada@example.com', '3 clicks', 'Berlin'],
  ['…7d0c2f6e', '1 click', 'Vienna'],
];

type Visitors = ResponseOf<'/visitors'>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The email is left out where none of the visitors has one. */
const tableOf = (hasEmails: boolean) => ({
  label: 'Visitors',
  minWidth: hasEmails ? 860 : 660,
  columns: ['Visitor', hasEmails && 'Email', 'Last seen', 'Last click', 'Place', 'Device'],
});

/** Finds visitors by a part of their email or user ID, or by their ID, and lists recent ones. */
export default function VisitorsPage() {
  const [parameters] = useSearchParams();
  const search = parameters.get('search');
  const visitors = useApi<Visitors>('/visitors', { search, limit: 50 });
  const hasEmails = visitors.data?.visitors.some(({ email }) => email !== null) ?? false;
  return (
    <>
      <PageHeader title="Visitors" />
      <Stack gap="md">
        <Finder key={search} search={search ?? ''} />
        <Note>
          {search
            ? `Visitors whose email, user ID or visitor ID matches “${search}”`
            : 'The 50 most recent visitors, without bots.'}
        </Note>
        <ListTab
          query={visitors}
          items={(data) => data.visitors}
          table={tableOf(hasEmails)}
          empty={
            search ? (
              <EmptyState title="No matching visitors">
                Emails and user IDs are known after your site or the API has identified a visitor with them. A
                visitor ID is found by its last characters, as lists show them, or by all of it.
              </EmptyState>
            ) : (
              <EmptyState title="No visitors yet" example={EXAMPLE}>
                They appear here when someone follows a link.
              </EmptyState>
            )
          }
          row={(visitor) => <Row key={visitor.id} visitor={visitor} hasEmails={hasEmails} />}
        >
          <GeoCredit />
        </ListTab>
      </Stack>
    </>
  );
}

/** A whole ID opens its visitor; any other text lists the visitors that it matches. */
function Finder({ search }: { search: string }) {
  const [, navigate] = useLocation();
  const [text, setText] = useState(search);
  const find = () => {
    const wanted = text.trim();
    if (UUID.test(wanted)) navigate(`/visitors/${wanted.toLowerCase()}`);
    else navigate(wanted === '' ? '/visitors' : `/visitors?search=${encodeURIComponent(wanted)}`);
  };
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          find();
        }}
      >
        <Group align="flex-start" gap="xs">
          <TextInput
            type="search"
            label="Email, user ID or visitor ID"
            placeholder="Any part of an email"
            maxLength={254}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            flex={1}
            maw={460}
          />
          <Button type="submit" mt={25}>
            Find
          </Button>
        </Group>
      </form>
    </search>
  );
}

const Row = ({
  visitor: { id, email, last_seen, last_click },
  hasEmails,
}: {
  visitor: Visitors['visitors'][number];
  hasEmails: boolean;
}) => (
  <Table.Tr>
    <Table.Td>
      <VisitorLink id={id} />
    </Table.Td>
    {hasEmails && (
      <Table.Td miw={200} style={{ overflowWrap: 'anywhere' }}>
        {email ?? 'Unknown'}
      </Table.Td>
    )}
    <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatInstant(last_seen)}</Table.Td>
    <LongTextCell>
      {last_click
        ? `${last_click.slug === '' ? 'A link' : last_click.slug} on ${channelName(last_click.channel)}`
        : 'None'}
    </LongTextCell>
    <Table.Td>{last_click ? placeOf(last_click) : 'Unknown'}</Table.Td>
    <Table.Td>{last_click ? deviceOf(last_click) : 'Unknown'}</Table.Td>
  </Table.Tr>
);
