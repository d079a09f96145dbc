import { Button, Group, List, Stack, Table, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { useState } from 'react';
import { fieldError } from '../../api/failures.ts';
import { useApi, useSend } from '../../api/queries.ts';
import { sentence, sentenceOf } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import { formatInstant, formatMoney } from '../../formats.ts';
import { AddressField } from '../../parts/address-field.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Section } from '../../parts/section.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import {
  OUTCOME_NAMES,
  OUTCOME_SIGNS,
  type PixelTest,
  type PixelTestCall,
  problemText,
} from './responses.ts';

/** Between two reads of a test, milliseconds. */
const POLL_EVERY = 1_000;

const CALL_NAMES: Record<PixelTestCall['type'], string> = {
  test: 'The pixel runs',
  identify: 'Identify',
  order: 'Order',
  unknown: 'Unknown call',
};

/** Opens a page of the site, and shows live what the pixel there sends. */
export function PixelTestSection() {
  const { workspace, can } = useSession();
  const [url, setUrl] = useState(workspace.primary_domain ? `https://${workspace.primary_domain}/` : '');
  const start = useSend<{ url: string }, PixelTest>((body) => ({ path: '/pixel/tests', body }), {
    tellFailure: false,
  });
  const wrong = fieldError(start.error, 'url');
  const failure = start.error && !wrong ? sentenceOf(start.error) : null;
  return (
    <Section
      title="Is it installed?"
      about="Open a page of your site as a test. What the pixel sends shows up here within seconds, with the reason where something is refused. Calls of a test also count as any other."
    >
      {can('operator') ? (
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            start.mutate({ url: url.trim() });
          }}
        >
          <Group align="flex-start" gap="sm">
            <AddressField
              label="Address of the page"
              placeholder="https://shop.example/"
              flex="1 1 16rem"
              value={url}
              error={wrong ? sentence(wrong) : failure}
              onChange={setUrl}
            />
            <Button type="submit" loading={start.isPending} mt={25}>
              Start a test
            </Button>
          </Group>
        </form>
      ) : (
        <Text size="sm">Operators and owners run tests.</Text>
      )}
      {start.data && <Running key={start.data.id} test={start.data} />}
    </Section>
  );
}

function Running({ test }: { test: PixelTest }) {
  const query = useApi<PixelTest>(`/pixel/tests/${test.id}`, {}, { every: POLL_EVERY });
  return (
    <Stack gap="sm" mt="md">
      <div>
        <Button
          component="a"
          href={test.test_url}
          target="_blank"
          rel="noopener"
          variant="default"
          rightSection={<IconExternalLink size={14} aria-hidden="true" />}
        >
          Open the page in a new tab
        </Button>
      </div>
      <QueryView query={query}>
        {({ calls }) => (
          <>
            <Text size="sm" role="status">
              {stateOf(calls)}
            </Text>
            {calls.length > 0 ? (
              <ScrollTable
                label="What has arrived"
                minWidth={640}
                columns={['Time', 'Call', 'Outcome', 'Details']}
              >
                <Table.Tbody>
                  {calls.toReversed().map((call) => (
                    <Row key={`${call.at}${call.type}${call.order?.order_id}`} call={call} />
                  ))}
                </Table.Tbody>
              </ScrollTable>
            ) : (
              <NothingYet />
            )}
          </>
        )}
      </QueryView>
    </Stack>
  );
}

function stateOf(calls: PixelTestCall[]): string {
  const last = calls.at(-1);
  if (!last) return 'Nothing has arrived yet.';
  if (calls.some((call) => call.type === 'order' && call.outcome !== 'refused'))
    return 'The pixel is installed, and an order has arrived.';
  if (last.visitors === 0)
    return 'The pixel is installed. It knows no visitor yet: come through one of your short links first.';
  return 'The pixel is installed and knows the visitor. Place a test order to see it here.';
}

function NothingYet() {
  return (
    <List size="sm" spacing={4}>
      <List.Item>Open the page with the button above: the address carries the test.</List.Item>
      <List.Item>
        If nothing follows, look in the page’s browser console for a line that begins with [hoplog]. It says
        why.
      </List.Item>
      <List.Item>
        Without such a line, the script is not on the page, or a content blocker stops it.
      </List.Item>
    </List>
  );
}

function Row({ call }: { call: PixelTestCall }) {
  const { order, names, visitors, problems } = call;
  const facts = [
    order && `${order.order_id}: ${formatMoney(order.amount, order.currency)}`,
    names.length > 0 && `with ${names.join(' and ')}`,
    visitors > 0 ? `${visitors} visitor ${visitors === 1 ? 'id' : 'ids'}` : 'no visitor',
  ];
  return (
    <Table.Tr>
      <Table.Td>{formatInstant(call.at)}</Table.Td>
      <Table.Td>{CALL_NAMES[call.type]}</Table.Td>
      <Table.Td>
        <StatusBadge sign={OUTCOME_SIGNS[call.outcome]}>{OUTCOME_NAMES[call.outcome]}</StatusBadge>
      </Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        {/* One element: on a phone a cell lays its children side by side. */}
        <div>
          <Text size="sm">{facts.filter(Boolean).join(', ')}</Text>
          {problems.map((problem) => (
            <Text size="sm" key={`${problem.problem}${problem.field}`}>
              {problemText(problem)}
              {problem.example && ` Sent: ${problem.example}.`}
            </Text>
          ))}
        </div>
      </Table.Td>
    </Table.Tr>
  );
}
