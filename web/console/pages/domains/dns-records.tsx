import { Alert, Table } from '@mantine/core';
import { useSession } from '../../api/session.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { pointingOf } from './pointing.ts';
import type { Domain } from './responses.ts';

/** The DNS records of a domain: one that proves it, and those that lead visitors here. */
export function DnsRecords({ domain: { domain, verification } }: { domain: Domain }) {
  const { short_url } = useSession().urls;
  const pointing = pointingOf(domain, short_url);
  const leading = pointing.kind === 'records' ? pointing.records : [];
  const records = [
    { ...verification, why: 'Proves that the domain is yours; keep it' },
    ...leading.map((record) => ({ ...record, name: domain, why: 'Leads visitors here' })),
  ];
  return (
    <div>
      <ScrollTable
        label={`DNS records of ${domain}`}
        minWidth={620}
        columns={['Type', 'Name', 'Value', 'Why']}
      >
        <Table.Tbody>
          {records.map(({ type, name, value, why }) => (
            <Table.Tr key={type}>
              <Table.Td>{type}</Table.Td>
              <Table.Td>
                <Copied text={name} what={`the name of the ${type} record`} />
              </Table.Td>
              <Table.Td>
                <Copied text={value} what={`the value of the ${type} record`} />
              </Table.Td>
              <Table.Td fz="sm" c="dimmed">
                {why}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollTable>
      {pointing.kind === 'no-address' ? (
        <Alert color="yellow" variant="outline" mt="sm" title="Set SHORT_URL first">
          The short links of this service are at {short_url}, which only this machine reaches. The operator
          sets SHORT_URL to the public address of the service, and the record that leads visitors here
          follows.
        </Alert>
      ) : (
        <SmallNote mt={4}>{pointing.note}</SmallNote>
      )}
    </div>
  );
}

const Copied = ({ text, what }: { text: string; what: string }) => (
  <span className="copied">
    <code>{text}</code>
    <CopyButton value={text} what={what} />
  </span>
);
