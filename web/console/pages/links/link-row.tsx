import { Checkbox, Skeleton, Table, Text } from '@mantine/core';
import { memo, type ReactNode, useContext } from 'react';
import type { FoundLinks, LinkRecord } from '../../api/links.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DestinationMark, hostOf } from '../../parts/destination-pages.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { LinkAddress } from './link-address.tsx';
import { type CellContext, DestinationPagesContext, type LinkColumn } from './link-columns.tsx';

type Props = {
  found: FoundLinks['links'][number];
  /** Host of links without a domain, where rows name their domain; else null. */
  host: string | null;
  columns: readonly LinkColumn[];
  context: CellContext;
  isChosen: boolean;
  /** Selects or deselects a link; null: nothing can be selected. */
  toggle: ((id: string) => void) | null;
  /** Puts the link, or all selected ones with it, into a drag that begins; null: it can't be moved. */
  drag: ((id: string, drag: DataTransfer) => void) | null;
};

/**
 * A link in the table. Rows take most of the page's time: each renders again only when what it is given changes, so
 * domains, folders, and trends that come later do not render all of them.
 */
export const LinkRow = memo(function LinkRow({
  found,
  host,
  columns,
  context,
  isChosen,
  toggle,
  drag,
}: Props) {
  const { link } = found;
  return (
    <Table.Tr data-selected={isChosen || undefined}>
      {toggle && (
        <Table.Td>
          <Checkbox aria-label={`Select ${link.slug}`} checked={isChosen} onChange={() => toggle(link.id)} />
        </Table.Td>
      )}
      <LinkCell link={link} host={host} drag={drag} />
      <Table.Td>
        <CopyButton value={link.short_url} what={`the short URL of ${link.slug}`} />
      </Table.Td>
      {columns.map(({ key, isFigure, cell }) =>
        isFigure ? (
          <FigureCell key={key}>{cell(found, context)}</FigureCell>
        ) : (
          <Table.Td key={key}>{cell(found, context)}</Table.Td>
        ),
      )}
    </Table.Tr>
  );
});

/** @param children null: not counted yet */
const FigureCell = ({ children }: { children: ReactNode }) => (
  <Table.Td ta="right" aria-busy={children === null || undefined}>
    {children ?? <Skeleton height={12} width={32} ml="auto" />}
  </Table.Td>
);

/** The slug and name of a link, above its destination: two lines, so that a row is 44 px high. */
function LinkCell({ link, host, drag }: { link: LinkRecord } & Pick<Props, 'host' | 'drag'>) {
  const page = useContext(DestinationPagesContext).get(link.id);
  return (
    <Table.Td
      className="link-cell"
      draggable={drag !== null}
      onDragStart={(event) => drag?.(link.id, event.dataTransfer)}
    >
      <div className="one-line">
        <LinkAddress link={link} host={host} />
        <Text span size="sm" ml={8} dir="auto" title={link.name}>
          {link.name}
        </Text>
      </div>
      <SmallNote truncate title={link.destination}>
        <DestinationMark page={page} name={hostOf(link.destination)} />
        {page?.title && <bdi className="destination-title">{page.title}</bdi>}
        {link.destination}
      </SmallNote>
    </Table.Td>
  );
}
