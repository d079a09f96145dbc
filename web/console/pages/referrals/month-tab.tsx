import { Anchor, Group, Paper, SegmentedControl, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatCount, formatDate, formatInstantIn, plural } from '../../formats.ts';
import { Delta } from '../../parts/delta.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Figure } from '../../parts/figure.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { Note, SmallNote } from '../../parts/note.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { ScrollTable, TableSkeleton } from '../../parts/scroll-table.tsx';
import { BlocksSkeleton, FiguresSkeleton } from '../../parts/skeletons.tsx';
import { TextPress } from '../../parts/text-press.tsx';
import { ProgramFilter, usePrograms } from './filters.tsx';
import { NeedsDecision } from './needs-decision.tsx';
import { ReferrerCell } from './referrer-cell.tsx';
import type { Summary } from './responses.ts';
import { useViewState } from './view-state.ts';
import { amountText, totalsText } from './words.ts';

/** Days that a person can choose. */
const PERIODS = ['7', '30', '90'] as const;
const DEFAULT_DAYS = '30';

/** What the programs brought in the last days, what is owed, who brought most, and what waits for a decision. */
export function MonthTab() {
  const view = useViewState();
  const days = PERIODS.find((one) => one === view.get('days')) ?? DEFAULT_DAYS;
  const summary = useApi<Summary>('/referrals/summary', { days, program_id: view.get('program') });
  return (
    <>
      <FilterBar
        label="Filters of the overview"
        names={['program']}
        actions={
          <SegmentedControl
            aria-label="Time range"
            size="xs"
            data={PERIODS.map((value) => ({ value, label: `${value} days` }))}
            value={days}
            onChange={(value) => view.set({ days: value === DEFAULT_DAYS ? null : value })}
          />
        }
      >
        <ProgramFilter />
      </FilterBar>
      <QueryView query={summary} skeleton={<SummarySkeleton />}>
        {(data) => (
          <Stack gap="md">
            <NeedsDecision decisions={data.decisions} />
            <Totals summary={data} />
            <Owed owed={data.owed} />
            <TopReferrers referrers={data.top_referrers} />
            <SmallNote>
              From {formatInstantIn(data.window.from, 'UTC')} to {formatInstantIn(data.window.to, 'UTC')},
              UTC. Bots, blocked signups, and held signups are not counted. Changes are against the{' '}
              {plural(data.window.days, 'day', 'days')} before.
            </SmallNote>
          </Stack>
        )}
      </QueryView>
    </>
  );
}

/** The tab while it is not known whether there is a program: its filters, and {@link SummarySkeleton}. */
export const MonthSkeleton = () => (
  <Stack gap="md">
    <BlocksSkeleton heights={[50]} />
    <SummarySkeleton />
  </Stack>
);

const SummarySkeleton = () => (
  <Stack gap="md">
    <FiguresSkeleton labels={['Clicks', 'Signups', 'Buyers', 'Revenue']} cols={{ base: 2, md: 4 }} />
    <BlocksSkeleton heights={[120]} />
    <TableSkeleton label="Top referrers" minWidth={680} columns={COLUMNS} isDouble />
  </Stack>
);

function Totals({
  summary: { totals, compared_totals: before, compared_window: span },
}: {
  summary: Summary;
}) {
  const { currency } = useSession().workspace;
  const view = useViewState();
  const against = `Compared with ${formatDate(span.from)} to ${formatDate(span.to)}`;
  const counts = [
    { label: 'Clicks', key: 'clicks', tab: 'enrollments' },
    { label: 'Signups', key: 'signups', tab: 'signups' },
    { label: 'Buyers', key: 'buyers', tab: 'purchases' },
  ] as const;
  const program = view.get('program');
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} component="section" aria-label="Totals">
      {counts.map(({ label, key, tab }) => (
        <Figure
          key={key}
          label={
            <TextPress onClick={() => view.show(tab, program === null ? {} : { program })}>{label}</TextPress>
          }
          value={formatCount(totals[key])}
          change={{ now: totals[key], before: before[key], against }}
        />
      ))}
      <Figure
        label="Revenue"
        value={totalsText(totals.revenue, currency)}
        note={<RevenueChanges now={totals.revenue} before={before.revenue} against={against} />}
      />
    </SimpleGrid>
  );
}

/** The change of each currency: sums of several can't be added. */
function RevenueChanges({ now, before, against }: Record<'now' | 'before', Money> & { against: string }) {
  const currencies = [...new Set([...Object.keys(now), ...Object.keys(before)])].sort();
  const [first] = currencies;
  if (first === undefined) return <Delta now={0} before={0} against={against} />;
  return currencies.map((currency) => (
    <Group key={currency} gap={6} component="span">
      {currencies.length > 1 && <span>{currency.toUpperCase()}</span>}
      <Delta now={now[currency] ?? 0} before={before[currency] ?? 0} against={against} />
    </Group>
  ));
}

type Money = Summary['owed']['pending'];

function Owed({ owed: { pending, eligible, credits } }: { owed: Summary['owed'] }) {
  const { currency } = useSession().workspace;
  const view = useViewState();
  const kinds = Object.entries(credits);
  return (
    <Paper withBorder p="md" component="section" aria-label="Owed">
      <Title order={2} size="h4" mb="xs">
        Owed to referrers
      </Title>
      <Group gap="xl" align="flex-start">
        <div>
          <Note>On hold</Note>
          <Text fw={600}>{totalsText(pending, currency)}</Text>
        </div>
        <div>
          <Note>Past the hold</Note>
          <Anchor component="button" fw={600} onClick={() => view.show('payouts')}>
            {totalsText(eligible, currency)}
          </Anchor>
        </div>
        {kinds.length > 0 && (
          <div>
            <Note>Credits to deliver</Note>
            <Anchor component="button" fw={600} ta="left" onClick={() => view.show('fulfilment')}>
              {new Intl.ListFormat(undefined).format(
                kinds.map(([kind, amount]) => amountText(amount, null, kind)),
              )}
            </Anchor>
          </div>
        )}
      </Group>
    </Paper>
  );
}

const COLUMNS = [
  'Referrer',
  { figure: 'Clicks' },
  { figure: 'Signups' },
  { figure: 'Buyers' },
  { figure: 'Revenue' },
  { figure: 'Owed' },
];

function TopReferrers({ referrers }: { referrers: Summary['top_referrers'] }) {
  const { currency } = useSession().workspace;
  const view = useViewState();
  const names = new Map(usePrograms().map(({ id, name }) => [id, name]));
  const isOne = names.size < 2 || view.get('program') !== null;
  return (
    <div>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          Top referrers
        </Title>
        <TextPress onClick={() => view.show('enrollments')}>All referrers</TextPress>
      </Group>
      {referrers.length === 0 ? (
        <EmptyState title="No activity in this period">
          Clicks on referral links, signups, and purchases show here.
        </EmptyState>
      ) : (
        <ScrollTable label="Top referrers" minWidth={680} columns={COLUMNS}>
          <Table.Tbody>
            {referrers.map((referrer) => (
              <Table.Tr key={referrer.partner_id}>
                <ReferrerCell referrer={referrer} note={!isOne && names.get(referrer.program_id)} />
                {[
                  formatCount(referrer.clicks),
                  formatCount(referrer.signups),
                  formatCount(referrer.buyers),
                  totalsText(referrer.revenue, currency),
                  totalsText(referrer.owed, currency),
                ].map((text, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the columns are fixed
                  <Table.Td key={index} ta="right">
                    {text}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </ScrollTable>
      )}
    </div>
  );
}
