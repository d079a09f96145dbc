import {
  Anchor,
  Badge,
  Checkbox,
  Group,
  Pagination,
  Skeleton,
  Table,
  Text,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { type FoundLinks, STATUS_NAMES } from '../../api/links.ts';
import { useSession } from '../../api/session.ts';
import { channelName, formatCount, formatDate, formatMoney, plural } from '../../formats.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { LongTextCell, ScrollTable } from '../../parts/scroll-table.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { LinkCards } from './link-cards.tsx';
import { type LinksView, PAGE_SIZE, type Sort } from './links-view.ts';
import { useSelection } from './use-selection.ts';

type Props = {
  data: FoundLinks;
  view: LinksView;
  change: (changes: Record<string, string | null>) => void;
  withFigures: boolean;
  /** Whether rows name their domain. */
  withDomains: boolean;
};

const FIGURES: [Sort, string][] = [
  ['clicks', 'Clicks'],
  ['visitors', 'Visitors'],
  ['conversions', 'Conversions'],
  ['revenue', 'Revenue'],
];

/** One page of links; the headings sort. An operator selects rows, to change them together. */
export function LinksTable({ data: { total, links }, view, change, withFigures, withDomains }: Props) {
  const { workspace, urls, can } = useSession();
  const selection = useSelection(links.map(({ link }) => link.id));
  const isPhone = useMediaQuery('(max-width: 47.99em)');
  const mayChange = can('operator');
  const pages = Math.max(1, Math.ceil(total / PAGE_SIZE));
  const heading = (sort: Sort, label: string, isFigure = false) => (
    <SortHeading key={sort} sort={sort} label={label} view={view} change={change} isFigure={isFigure} />
  );
  return (
    <>
      <Text size="sm" c="dimmed" mb="xs" role="status">
        {plural(total, 'link', 'links')}
        {pages > 1 && `, page ${Math.min(view.page, pages)} of ${pages}`}
      </Text>
      {isPhone ? (
        <LinkCards
          rows={links}
          withFigures={withFigures}
          ownHost={withDomains ? new URL(urls.short_url).host : null}
          selection={mayChange ? selection : null}
        />
      ) : (
        <ScrollTable label="Links" minWidth={withFigures ? 980 : 640}>
          <Table.Thead>
            <Table.Tr>
              {mayChange && (
                <Table.Th w={40}>
                  <Checkbox
                    aria-label="Select this page"
                    checked={links.length > 0 && selection.chosen.length === links.length}
                    indeterminate={selection.chosen.length > 0 && selection.chosen.length < links.length}
                    onChange={selection.toggleAll}
                  />
                </Table.Th>
              )}
              {heading('name', 'Link')}
              <Table.Th>Channel</Table.Th>
              <Table.Th>Status</Table.Th>
              {withFigures && FIGURES.map(([sort, label]) => heading(sort, label, true))}
              {heading('created', 'Created')}
              <Table.Th>
                <VisuallyHidden>Copy</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {links.map(({ link, status, figures }) => (
              <Table.Tr key={link.id} data-selected={selection.isChosen(link.id) || undefined}>
                {mayChange && (
                  <Table.Td>
                    <Checkbox
                      aria-label={`Select ${link.slug}`}
                      checked={selection.isChosen(link.id)}
                      onChange={() => selection.toggle(link.id)}
                    />
                  </Table.Td>
                )}
                <LongTextCell maw={320}>
                  {withDomains && (
                    <Text span size="sm" c="dimmed">
                      {link.domain ?? new URL(urls.short_url).host}/
                    </Text>
                  )}
                  <Anchor
                    component={Link}
                    href={`/links/${link.id}`}
                    fw={600}
                    size="sm"
                    className="link-slug"
                  >
                    {link.slug}
                  </Anchor>
                  <Text size="sm" truncate dir="auto" title={link.name}>
                    {link.name}
                  </Text>
                  <Text size="xs" c="dimmed" truncate title={link.destination}>
                    {link.destination}
                  </Text>
                  {link.tags.length > 0 && (
                    <Group gap={4} mt={2}>
                      {link.tags.slice(0, 4).map((tag) => (
                        <Badge key={tag} variant="default" size="xs" tt="none">
                          {tag}
                        </Badge>
                      ))}
                      {link.tags.length > 4 && <Text size="xs">and {link.tags.length - 4} more</Text>}
                    </Group>
                  )}
                </LongTextCell>
                <Table.Td>{link.channel === null ? 'Smart Link' : channelName(link.channel)}</Table.Td>
                <Table.Td>{link.archived ? 'Archived' : STATUS_NAMES[status]}</Table.Td>
                {withFigures && (
                  <>
                    <FigureCell>{figures && formatCount(figures.clicks)}</FigureCell>
                    <FigureCell>{figures && formatCount(figures.visitors)}</FigureCell>
                    <FigureCell>{figures && formatCount(figures.conversions)}</FigureCell>
                    <FigureCell>{figures && formatMoney(figures.revenue, workspace.currency)}</FigureCell>
                  </>
                )}
                <Table.Td>{formatDate(link.created_at)}</Table.Td>
                <Table.Td>
                  <CopyButton value={link.short_url} what={`the short URL of ${link.slug}`} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </ScrollTable>
      )}
      {pages > 1 && (
        <Group component="nav" aria-label="Pages of links" justify="center" mt="md">
          <Pagination
            total={pages}
            value={Math.min(view.page, pages)}
            onChange={(page) => change({ page: page === 1 ? null : String(page) })}
            siblings={1}
            getItemProps={(page) => ({ 'aria-label': `Page ${page}` })}
            getControlProps={(control) => ({ 'aria-label': CONTROL_NAMES[control] })}
          />
        </Group>
      )}
      {mayChange && selection.chosen.length > 0 && (
        <BulkBar
          links={links.flatMap(({ link }) => (selection.isChosen(link.id) ? [link] : []))}
          clear={selection.clear}
        />
      )}
    </>
  );
}

const CONTROL_NAMES = {
  first: 'First page',
  previous: 'Previous page',
  next: 'Next page',
  last: 'Last page',
};

/** @param children null: not counted yet */
const FigureCell = ({ children }: { children: ReactNode }) => (
  <Table.Td ta="right" className="figure" aria-busy={children === null || undefined}>
    {children ?? <Skeleton height={12} width={32} ml="auto" />}
  </Table.Td>
);

type HeadingProps = {
  sort: Sort;
  label: string;
  view: LinksView;
  change: Props['change'];
  isFigure: boolean;
};

/** The first press sorts names ascending and everything else descending; the next reverses it. */
function SortHeading({ sort, label, view, change, isFigure }: HeadingProps) {
  const isSorted = view.sort === sort;
  const descending = isSorted ? !view.descending : sort !== 'name';
  const Sign = !isSorted ? IconArrowsSort : view.descending ? IconArrowDown : IconArrowUp;
  return (
    <Table.Th
      aria-sort={isSorted ? (view.descending ? 'descending' : 'ascending') : 'none'}
      ta={isFigure ? 'right' : 'left'}
    >
      <UnstyledButton
        fw={700}
        fz="sm"
        onClick={() => change({ sort: sort === 'created' ? null : sort, order: orderText(sort, descending) })}
      >
        {label} <Sign size={14} aria-hidden="true" />
      </UnstyledButton>
    </Table.Th>
  );
}

/** The URL parameter; omitted for the default order. */
function orderText(sort: Sort, descending: boolean): string | null {
  if (descending === (sort !== 'name')) return null;
  return descending ? 'desc' : 'asc';
}
