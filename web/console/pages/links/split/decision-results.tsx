import { Paper, Stack, Table, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type Interval, wilsonInterval } from '../../../../../core/analytics/wilson.ts';
import type { LinkRecord } from '../../../api/links.ts';
import { useSession } from '../../../api/session.ts';
import { valueIn } from '../../../dashboard/dimensions.ts';
import { analyticsOptions, type Figures, type Result } from '../../../dashboard/source.ts';
import { formatCount, formatInstant, formatMoney, formatPercent } from '../../../formats.ts';
import { Note, SmallNote } from '../../../parts/note.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { ScrollTable } from '../../../parts/scroll-table.tsx';
import { StatusBadge } from '../../../parts/status-badge.tsx';
import { useWindow } from '../../../parts/use-window.ts';
import { ruleWords } from '../rules/condition-words.ts';
import { ruleDrafts } from '../rules/rule-drafts.ts';
import { useChartZone } from '../use-chart-zone.ts';

/** Interval between two reads of the results. Milliseconds. */
const READ_EVERY = 15_000;

type Goal = 'leads' | 'conversions';

/** A row of results: a rule or a variant. */
type Part = { id: string; name: ReactNode; note?: string | undefined };

/** The results of a link's rules and variants; nothing for a link without either. */
export function DecisionResults({ link }: { link: LinkRecord }) {
  const rules = ruleDrafts(link.rules);
  return (
    <Stack gap="md">
      {link.split && (
        <Results
          title="Split test"
          about={splitWords(link)}
          linkId={link.id}
          dimension="variant"
          goal={link.split_goal === 'leads' ? 'leads' : 'conversions'}
          winner={link.split_winner}
          parts={link.split.map(({ id, destination_url, weight }) => ({
            id,
            name: destination_url,
            note: `Weight ${weight}`,
          }))}
        />
      )}
      {rules.length > 0 && (
        <Results
          title="Rules"
          about="Clicks that no rule decided are in the last row."
          linkId={link.id}
          dimension="rule"
          goal="conversions"
          winner={null}
          parts={rules.map((rule, nth) => ({
            id: rule.id ?? '',
            name: `${nth + 1}. ${rule.name || ruleWords(rule)}`,
            note: rule.destination_url,
          }))}
        />
      )}
    </Stack>
  );
}

function splitWords({ split_winner: winner, split_ends_at: ends, split_goal: goal }: LinkRecord): string {
  if (winner !== null) return 'Decided: all visitors get the winner.';
  if (ends === null) return 'Runs without an end.';
  return `Ends ${formatInstant(ends)}. Then the variant with the most ${goal ?? 'of the goal'} for each click wins.`;
}

function Results(props: {
  title: string;
  about: string;
  linkId: string;
  dimension: 'variant' | 'rule';
  goal: Goal;
  winner: string | null;
  parts: Part[];
}) {
  const { title, about, linkId, dimension } = props;
  const { query: window } = useWindow();
  const zone = useChartZone();
  const result = useQuery<Result>({
    ...analyticsOptions('/analytics/query', {
      metrics: ['clicks', 'leads', 'conversions', 'revenue'],
      dimensions: [dimension],
      filters: [{ dimension: 'link', operator: 'is', values: [linkId] }],
      window,
      time_zone: zone,
    }),
    placeholderData: keepPreviousData,
    refetchInterval: READ_EVERY,
  });
  return (
    <Paper withBorder p="md">
      <Title order={3} size="h5">
        {title}
      </Title>
      <Note mb="xs">{about}</Note>
      <QueryView query={result} lines={3}>
        {(data) => <ResultTable {...props} data={data} />}
      </QueryView>
    </Paper>
  );
}

const NO_FIGURES: Figures = { clicks: 0, leads: 0, conversions: 0, revenue: 0 };

function ResultTable({
  title,
  dimension,
  goal,
  winner,
  parts,
  data,
}: Parameters<typeof Results>[0] & { data: Result }) {
  const { workspace } = useSession();
  const figures = new Map(data.rows.map((row) => [valueIn(row, dimension), row.metrics]));
  const rows = [...parts, ...othersIn(figures, parts, dimension)].map((part) => {
    const of = figures.get(part.id === '' ? null : part.id) ?? NO_FIGURES;
    const clicks = of.clicks ?? 0;
    const hits = of[goal] ?? 0;
    return {
      ...part,
      of,
      clicks,
      rate: clicks === 0 ? null : hits / clicks,
      range: wilsonInterval(hits, clicks),
    };
  });
  const most = Math.max(...rows.map(({ range }) => range?.high ?? 0));
  const rateName = goal === 'leads' ? 'Lead rate' : 'Conversion rate';
  return (
    <ScrollTable
      label={`Results of ${title.toLowerCase()}`}
      minWidth={720}
      columns={[
        dimension === 'rule' ? 'Rule' : 'Destination',
        { figure: 'Clicks' },
        { figure: 'Leads' },
        { figure: 'Conversions' },
        { figure: 'Revenue' },
        { figure: rateName },
        '95% interval',
      ]}
    >
      <Table.Tbody>
        {rows.map(({ id, name, note, of, clicks, rate, range }) => (
          <Table.Tr key={id}>
            <Table.Td miw={160} maw={280} style={{ overflowWrap: 'anywhere' }}>
              {name} {winner !== null && id === winner && <StatusBadge sign="good">Winner</StatusBadge>}
              {note && <SmallNote>{note}</SmallNote>}
            </Table.Td>
            <Count value={clicks} />
            <Count value={of.leads ?? 0} />
            <Count value={of.conversions ?? 0} />
            <Table.Td ta="right">{formatMoney(of.revenue ?? 0, workspace.currency)}</Table.Td>
            <Table.Td ta="right">{rate === null ? '–' : formatPercent(rate)}</Table.Td>
            <Table.Td miw={150}>
              <RangeOf range={range} most={most} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  );
}

const Count = ({ value }: { value: number }) => <Table.Td ta="right">{formatCount(value)}</Table.Td>;

/** Clicks that no current rule or variant decided: those of removed ones, and those that nothing decided. */
function othersIn(
  figures: ReadonlyMap<string | null, Figures>,
  parts: readonly Part[],
  dimension: 'variant' | 'rule',
): Part[] {
  return [...figures.keys()]
    .filter((id) => !parts.some((part) => part.id === id))
    .sort((one) => (one === null ? 1 : -1))
    .map((id) =>
      id === null
        ? { id: '', name: dimension === 'rule' ? 'No rule' : 'Decided before the split' }
        : { id, name: dimension === 'rule' ? 'A removed rule' : 'A removed variant', note: id },
    );
}

/** An interval in numbers, and drawn on the scale of its table. @param most the largest end of all */
function RangeOf({ range, most }: { range: Interval | null; most: number }) {
  if (range === null || most === 0) return <Text size="sm">–</Text>;
  const part = (share: number) => `${(100 * share) / most}%`;
  return (
    <>
      <Text size="sm">
        {formatPercent(range.low)} – {formatPercent(range.high)}
      </Text>
      <div className="interval" aria-hidden="true">
        <span style={{ left: part(range.low), width: part(range.high - range.low) }} />
      </div>
    </>
  );
}
