import { Anchor, Button, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useApi } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { channelName, formatInstant } from '../../formats.ts';
import { deviceOf, placeOf, shortId } from '../../parts/click-words.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { GeoCredit } from '../../parts/geo-credit.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { LongTextCell, ScrollTable } from '../../parts/scroll-table.tsx';

type Visitors = ResponseOf<'/visitors'>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Finds a visitor by ID or email, and lists recent visitors. */
export default function VisitorsPage() {
  const [search] = useSearchParams();
  const email = search.get('email');
  const visitors = useApi<Visitors>('/visitors', { email, limit: 50 });
  return (
    <>
      <PageHeader title="Visitors" />
      <Stack gap="md">
        <Finder key={email} email={email ?? ''} />
        <Text size="sm" c="dimmed">
          {email ? `Visitors with the email ${email}` : 'The 50 most recent visitors, without bots.'}
        </Text>
        <QueryView
          query={visitors}
          lines={8}
          empty={{
            when: (data) => data.visitors.length === 0,
            show: email ? (
              <EmptyState title="No visitor has this email">
                An email is known after your site or the API has identified a visitor with it.
              </EmptyState>
            ) : (
              <EmptyState title="No visitors yet">They appear here when someone follows a link.</EmptyState>
            ),
          }}
        >
          {(data) => <VisitorsTable visitors={data.visitors} />}
        </QueryView>
        <GeoCredit />
      </Stack>
    </>
  );
}

/** An ID opens its visitor; an email lists matching visitors. */
function Finder({ email }: { email: string }) {
  const [, navigate] = useLocation();
  const [text, setText] = useState(email);
  const [wrong, setWrong] = useState<string | null>(null);
  const find = () => {
    const wanted = text.trim();
    if (UUID.test(wanted)) navigate(`/visitors/${wanted.toLowerCase()}`);
    else if (wanted.includes('@')) navigate(`/visitors?email=${encodeURIComponent(wanted)}`);
    else if (wanted === '') navigate('/visitors');
    else setWrong('is neither a visitor ID nor an email');
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
            label="Visitor ID or email"
            value={text}
            error={wrong}
            onChange={(event) => {
              setText(event.currentTarget.value);
              setWrong(null);
            }}
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

const VisitorsTable = ({ visitors }: { visitors: Visitors['visitors'] }) => (
  <ScrollTable
    label="Visitors"
    minWidth={860}
    columns={['Visitor', 'Email', 'Last seen', 'Last click', 'Place', 'Device']}
  >
    <Table.Tbody>
      {visitors.map(({ id, email, last_seen, last_click }) => (
        <Table.Tr key={id}>
          <Table.Td>
            <Anchor component={Link} href={`/visitors/${id}`} size="sm" title={id}>
              {shortId(id)}
            </Anchor>
          </Table.Td>
          <Table.Td miw={200} style={{ overflowWrap: 'anywhere' }}>
            {email ?? 'Unknown'}
          </Table.Td>
          <Table.Td className="figure" style={{ whiteSpace: 'nowrap' }}>
            {formatInstant(last_seen)}
          </Table.Td>
          <LongTextCell>
            {last_click
              ? `${last_click.slug === '' ? 'A link' : last_click.slug} on ${channelName(last_click.channel)}`
              : 'None'}
          </LongTextCell>
          <Table.Td>{last_click ? placeOf(last_click) : 'Unknown'}</Table.Td>
          <Table.Td>{last_click ? deviceOf(last_click) : 'Unknown'}</Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </ScrollTable>
);
