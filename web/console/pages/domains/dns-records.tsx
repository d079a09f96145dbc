import { Table, Text } from '@mantine/core';
import { useSession } from '../../api/session.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import type { Domain } from './responses.ts';

/** The DNS records of a domain: one that proves it, one that leads visitors here. */
export function DnsRecords({ domain: { domain, verification } }: { domain: Domain }) {
  const { hostname } = new URL(useSession().urls.short_url);
  const isRoot = domain.split('.').length === 2;
  const records = [
    { ...verification, why: 'Proves that the domain is yours; keep it' },
    { type: 'CNAME', name: domain, value: hostname, why: 'Leads visitors here' },
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
      <Text size="xs" c="dimmed" mt={4}>
        {isRoot
          ? `Most providers allow no CNAME on ${domain} itself: set A and AAAA records with the addresses of ${hostname} there.`
          : `Some providers want names without the domain that you manage there, such as ${domain.split('.')[0]} and _hoplog.${domain.split('.')[0]}.`}
      </Text>
    </div>
  );
}

const Copied = ({ text, what }: { text: string; what: string }) => (
  <span className="copied">
    <code>{text}</code>
    <CopyButton value={text} what={what} />
  </span>
);
