import { Button, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { formatCount, plural } from '../../../formats.ts';
import { Figure } from '../../../parts/figure.tsx';
import { FigureCell, LongTextCell, ScrollTable } from '../../../parts/scroll-table.tsx';
import type { ClickImportResult } from './click-import-page.tsx';

/** Groups of errors shown. */
const SHOWN = 50;

/** The result of an import of clicks or orders, or what it will be. */
export function ClickImportReport({
  result,
  isOrders,
  startImport,
}: {
  result: ClickImportResult;
  isOrders: boolean;
  startImport: () => void;
}) {
  const { dry_run: isCheck, read, clicks, orders, skipped, failed, unknown_columns, errors } = result;
  const groups = grouped(errors);
  const what = isOrders ? 'Orders' : 'Clicks';
  return (
    <Stack
      gap="md"
      component="section"
      aria-label={isCheck ? 'What the import will do' : 'Result of the import'}
    >
      <Text role="status" size="sm">
        {plural(read, 'row was', 'rows were')} looked at.{isCheck && ' Nothing was stored yet.'}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <Figure
          label={isCheck ? `${what} to import` : `${what} imported`}
          value={formatCount(isOrders ? orders : clicks)}
        />
        <Figure label="Rows already present" value={formatCount(skipped)} />
        <Figure label="Rows refused" value={formatCount(failed)} />
      </SimpleGrid>
      {unknown_columns.length > 0 && (
        <Text size="sm">Not taken over, because there is no such field: {unknown_columns.join(', ')}.</Text>
      )}
      <Group>
        {isCheck ? (
          <Button onClick={startImport} disabled={clicks + orders === 0}>
            Import {isOrders ? plural(orders, 'order', 'orders') : plural(clicks, 'click', 'clicks')}
          </Button>
        ) : (
          <Button component={Link} href="/">
            See the reports
          </Button>
        )}
      </Group>
      {groups.length > 0 && (
        <>
          <Title order={2} size="h4">
            {isCheck ? 'Rows that will be refused' : 'Rows that were refused'}
          </Title>
          {failed > errors.length && (
            <Text size="sm">
              Of {formatCount(failed)} rows the first {formatCount(errors.length)}.
            </Text>
          )}
          <ScrollTable
            label="Refused rows"
            minWidth={560}
            columns={[{ figure: 'Rows' }, { figure: 'First line' }, 'Link', 'Reason']}
          >
            <Table.Tbody>
              {groups.slice(0, SHOWN).map(({ rows, line, link, reason }) => (
                <Table.Tr key={`${link} ${reason}`}>
                  <FigureCell>{formatCount(rows)}</FigureCell>
                  <FigureCell>{formatCount(line)}</FigureCell>
                  <LongTextCell>{link ?? '–'}</LongTextCell>
                  <Table.Td>{reason}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </ScrollTable>
          {groups.length > SHOWN && (
            <Text size="sm">
              And {plural(groups.length - SHOWN, 'other link or reason', 'other links or reasons')}.
            </Text>
          )}
        </>
      )}
    </Stack>
  );
}

type Reason = { rows: number; line: number; link: string | null; reason: string };

/** Groups errors by link and reason, most rows first: of a link that is gone there are as many as it had visits. */
function grouped(errors: ClickImportResult['errors']): Reason[] {
  const groups = new Map<string, Reason>();
  for (const { line, link, field, message } of errors) {
    const reason = field === null ? message : `${field}: ${message}`;
    const key = `${link}\0${reason}`;
    const group = groups.get(key) ?? { rows: 0, line, link, reason };
    group.rows += 1;
    groups.set(key, group);
  }
  return [...groups.values()].toSorted((one, other) => other.rows - one.rows);
}
