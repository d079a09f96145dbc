import { Anchor, Badge, Table } from '@mantine/core';
import { memo } from 'react';
import { Link } from 'wouter';
import type { Click } from '../../api/click.ts';
import { formatInstant } from '../../formats.ts';
import { ChannelName } from '../../parts/channel-mark.tsx';
import { deviceOf, placeOf } from '../../parts/click-words.ts';
import { Note } from '../../parts/note.tsx';
import { LongTextCell, ScrollTable } from '../../parts/scroll-table.tsx';
import { VisitorLink } from '../../parts/visitor-link.tsx';
import { useLinkNames } from './link-names.ts';

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const DAY_AND_TIME = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** The clicks, newest first. */
export function LiveTable({ clicks }: { clicks: readonly Click[] }) {
  const names = useLinkNames(clicks.flatMap(({ link_id }) => link_id ?? []));
  const today = new Date().toDateString();
  return (
    <ScrollTable
      label="Clicks, newest first"
      minWidth={820}
      columns={['Time', 'Link', 'Channel', 'Place', 'Device', 'Visitor']}
    >
      <Table.Tbody>
        {clicks.map((click) => (
          <ClickRow key={click.id} click={click} name={names.get(click.link_id ?? '')} today={today} />
        ))}
      </Table.Tbody>
    </ScrollTable>
  );
}

type RowProps = { click: Click; name: string | null | undefined; today: string };

const ClickRow = memo(function ClickRow({ click, name, today }: RowProps) {
  const at = new Date(click.ts);
  return (
    <Table.Tr data-click={click.id}>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <time dateTime={click.ts} title={formatInstant(click.ts)}>
          {(at.toDateString() === today ? TIME : DAY_AND_TIME).format(at)}
        </time>
      </Table.Td>
      <LongTextCell>
        {name === null ? (
          <Note span>Deleted link</Note>
        ) : (
          <Anchor component={Link} href={`/links/${click.link_id}`} size="sm" fw={600}>
            {name ?? '…'}
          </Anchor>
        )}
      </LongTextCell>
      <Table.Td>
        <ChannelName channel={click.channel} />
      </Table.Td>
      <Table.Td>{placeOf(click)}</Table.Td>
      <Table.Td>
        {deviceOf(click)}
        {click.is_bot && (
          <Badge ml="xs" size="sm" variant="outline" color="gray">
            Bot
          </Badge>
        )}
      </Table.Td>
      <Table.Td>{click.is_bot ? '–' : <VisitorLink id={click.visitor_id} />}</Table.Td>
    </Table.Tr>
  );
});
