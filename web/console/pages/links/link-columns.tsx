import { Badge, Group, Text } from '@mantine/core';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { type FoundLinks, STATUS_NAMES } from '../../api/links.ts';
import { useSession } from '../../api/session.ts';
import { formatCount, formatDate, formatMoney, plural } from '../../formats.ts';
import { ChannelName } from '../../parts/channel-mark.tsx';
import { type ChoiceColumn, useColumnChoice } from '../../parts/column-choice.ts';
import type { DestinationPages } from '../../parts/destination-pages.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import type { Sort } from './links-view.ts';
import type { Sparklines } from './use-sparklines.ts';

type Found = FoundLinks['links'][number];

/** What all cells of a page are given. */
export type CellContext = {
  currency: string;
  folders: ReadonlyMap<string, string>;
};

export type LinkColumn = ChoiceColumn & {
  sort?: Sort;
  isFigure?: true;
  /** Needs a plan with statistics. */
  ofFigures?: true;
  cell: (found: Found, context: CellContext) => ReactNode;
};

/** The columns beside the link itself, in their order. */
const LINK_COLUMNS: readonly LinkColumn[] = [
  {
    key: 'channel',
    name: 'Channel',
    cell: ({ link }) => <ChannelName channel={link.channel ?? 'smart'} />,
  },
  {
    key: 'status',
    name: 'Status',
    cell: ({ link, status }) => (link.archived ? 'Archived' : STATUS_NAMES[status]),
  },
  {
    key: 'tags',
    name: 'Tags',
    isExtra: true,
    cell: ({ link }) => <Tags tags={link.tags} />,
  },
  {
    key: 'folder',
    name: 'Folder',
    isExtra: true,
    cell: ({ link }, { folders }) => (link.folder_id === null ? '' : (folders.get(link.folder_id) ?? '')),
  },
  {
    key: 'trend',
    name: 'Trend',
    ofFigures: true,
    cell: ({ link }) => <Trend linkId={link.id} />,
  },
  {
    key: 'clicks',
    name: 'Clicks',
    sort: 'clicks',
    isFigure: true,
    ofFigures: true,
    cell: ({ figures }) => figures && formatCount(figures.clicks),
  },
  {
    key: 'visitors',
    name: 'Visitors',
    sort: 'visitors',
    isFigure: true,
    ofFigures: true,
    cell: ({ figures }) => figures && formatCount(figures.visitors),
  },
  {
    key: 'conversions',
    name: 'Conversions',
    sort: 'conversions',
    isFigure: true,
    ofFigures: true,
    cell: ({ figures }) => figures && formatCount(figures.conversions),
  },
  {
    key: 'revenue',
    name: 'Revenue',
    sort: 'revenue',
    isFigure: true,
    ofFigures: true,
    cell: ({ figures }, { currency }) => figures && formatMoney(figures.revenue, currency),
  },
  { key: 'created', name: 'Created', sort: 'created', cell: ({ link }) => formatDate(link.created_at) },
];

function Tags({ tags }: { tags: readonly string[] }) {
  const [first, ...more] = tags;
  if (first === undefined) return null;
  return (
    <Group gap={4} wrap="nowrap" title={tags.join(', ')}>
      <Badge variant="default" size="sm" tt="none" maw={140} style={{ flex: 'none' }}>
        {first}
      </Badge>
      {more.length > 0 && <Text size="xs">+{more.length}</Text>}
    </Group>
  );
}

/** The lines of all rows, which come after the rows; null until then. */
export const SparklinesContext = createContext<Sparklines | null>(null);

/** Titles and icons of destinations, which come after the rows. */
export const DestinationPagesContext = createContext<DestinationPages>(new Map());

function Trend({ linkId }: { linkId: string }) {
  const sparklines = useContext(SparklinesContext);
  if (!sparklines) return null;
  const { unit, isOpenEnded, valuesOf } = sparklines;
  const values = valuesOf(linkId);
  const most = Math.max(0, ...values);
  return (
    <Sparkline
      values={values}
      isOpenEnded={isOpenEnded}
      label={most === 0 ? 'No clicks' : `At most ${plural(most, 'click', 'clicks')} in a ${unit}`}
    />
  );
}

/** The columns that a person chose, kept in this browser, and a setter of one. */
export function useLinkColumns() {
  const { paid } = useSession().workspace;
  const offered = useMemo(() => LINK_COLUMNS.filter(({ ofFigures }) => paid || !ofFigures), [paid]);
  return useColumnChoice('hoplog.links.columns', offered);
}
