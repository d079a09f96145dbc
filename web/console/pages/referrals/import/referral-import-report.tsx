import { Alert, Button, Group, Stack, Table, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { formatCount, formatMoney, plural } from '../../../formats.ts';
import { FigureCell, LongTextCell, ScrollTable } from '../../../parts/scroll-table.tsx';
import type { ReferralImportResult } from './referral-import-page.tsx';

/** Rows of a list that are shown. */
const SHOWN = 100;

const KINDS = [
  ['partners', 'Partners'],
  ['customers', 'Customers'],
  ['commissions', 'Commissions'],
] as const;

/** The result of an import of referrers, or what it will be. */
export function ReferralImportReport({
  result,
  startImport,
}: {
  result: ReferralImportResult;
  startImport: () => void;
}) {
  const { dry_run: isCheck, sum, unknown_columns, notes, errors } = result;
  const created = KINDS.reduce((total, [kind]) => total + result[kind].created, 0);
  const missing = sum.files - sum.ledger;
  return (
    <Stack
      gap="md"
      component="section"
      aria-label={isCheck ? 'What the import will do' : 'Result of the import'}
    >
      <Text role="status" size="sm">
        {isCheck
          ? `Nothing was imported yet. ${errors.length === 0 ? 'No row will be refused.' : `${plural(refusedRows(errors), 'row', 'rows')} will be refused.`}`
          : `Imported. ${errors.length === 0 ? 'No row was refused.' : `${plural(refusedRows(errors), 'row was', 'rows were')} refused.`}`}
      </Text>
      <ScrollTable
        label={isCheck ? 'What will be imported' : 'What was imported'}
        minWidth={480}
        columns={[
          'Kind',
          { figure: 'Rows' },
          { figure: isCheck ? 'New' : 'Imported' },
          { figure: 'There already' },
          { figure: 'Nothing to pay' },
          { figure: 'Refused' },
        ]}
      >
        <Table.Tbody>
          {KINDS.map(([kind, name]) => {
            const { read, created: made, existing, skipped } = result[kind];
            return (
              <Table.Tr key={kind}>
                <Table.Td>{name}</Table.Td>
                <FigureCell>{formatCount(read)}</FigureCell>
                <FigureCell>{formatCount(made)}</FigureCell>
                <FigureCell>{formatCount(existing)}</FigureCell>
                <FigureCell>{formatCount(skipped)}</FigureCell>
                <FigureCell>{formatCount(read - made - existing - skipped)}</FigureCell>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </ScrollTable>
      <Text size="sm">
        Unpaid commissions: {formatMoney(sum.files, sum.currency)} in the files,{' '}
        {formatMoney(sum.ledger, sum.currency)} {isCheck ? 'will be in' : 'in'} the ledger. Compare the first
        sum with the other program before you pay.
      </Text>
      {missing > 0 && (
        <Alert
          variant="outline"
          color="yellow"
          title={`${formatMoney(missing, sum.currency)} would not be paid`}
        >
          Correct the refused commissions below in the file, and import it again.
        </Alert>
      )}
      {unknown_columns.map(({ file, columns }) => (
        <Text size="sm" key={file}>
          Not taken over from {file}, because there is no such field: {columns.join(', ')}.
        </Text>
      ))}
      <Group>
        {isCheck ? (
          <Button onClick={startImport} disabled={created === 0}>
            {created === 0 ? 'Nothing to import' : `Import ${plural(created, 'row', 'rows')}`}
          </Button>
        ) : (
          <Button component={Link} href="/referrals?tab=enrollments">
            See the referrers
          </Button>
        )}
      </Group>
      {errors.length > 0 && (
        <RowList title={isCheck ? 'Rows that will be refused' : 'Rows that were refused'} rows={errors} />
      )}
      {notes.length > 0 && <RowList title="Codes that stay with another referrer" rows={notes} />}
    </Stack>
  );
}

type Row = { file: string; line: number; field?: string | null; message: string };

function RowList({ title, rows }: { title: string; rows: readonly Row[] }) {
  return (
    <>
      <Title order={2} size="h4">
        {title}
      </Title>
      {rows.length > SHOWN && (
        <Text size="sm">
          The first {SHOWN} of {formatCount(rows.length)}.
        </Text>
      )}
      <ScrollTable label={title} minWidth={560} columns={['File', { figure: 'Line' }, 'Column', 'Reason']}>
        <Table.Tbody>
          {rows.slice(0, SHOWN).map(({ file, line, field, message }) => (
            <Table.Tr key={`${file} ${line} ${field} ${message}`}>
              <LongTextCell>{file}</LongTextCell>
              <FigureCell>{formatCount(line)}</FigureCell>
              <Table.Td>{field ?? '–'}</Table.Td>
              <Table.Td>{message}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollTable>
    </>
  );
}

/** A row may have several errors. */
const refusedRows = (errors: readonly Row[]) =>
  new Set(errors.map(({ file, line }) => `${file} ${line}`)).size;
