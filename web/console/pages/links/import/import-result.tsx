import { Alert, Anchor, Button, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { Link } from 'wouter';
import { formatCount, plural } from '../../../formats.ts';
import { Figure } from '../../../parts/figure.tsx';
import { saveFile } from '../../../parts/save-file.ts';
import { ScrollTable } from '../../../parts/scroll-table.tsx';
import type { ImportFile } from './import-pieces.ts';
import { reasonOf, refusedCsv } from './refused-csv.ts';
import type { ImportState } from './run-import.ts';

/** Refused rows shown; the CSV file has all. */
const SHOWN = 100;

/** The result of an import, or what it will be. @param startImport after a check */
export function ImportResult({
  file,
  state,
  canceled,
  startImport,
}: {
  file: ImportFile;
  state: ImportState;
  canceled: boolean;
  startImport: (() => void) | null;
}) {
  const { refused } = state;
  const isCheck = startImport !== null;
  return (
    <Stack
      gap="md"
      component="section"
      aria-label={isCheck ? 'What the import will do' : 'Result of the import'}
    >
      {canceled && (
        <Alert variant="outline" color="yellow" title="The import was canceled" role="status">
          {formatCount(state.done)} of {plural(file.rows, 'row', 'rows')} were done. Import the file again to
          go on where it ended.
        </Alert>
      )}
      <Text role="status" size="sm">
        {state.format &&
          `Read as ${state.format === 'Hoplog' ? 'a CSV of our own columns' : `an export of ${state.format}`}. `}
        {plural(state.done, 'row was', 'rows were')} looked at.
        {isCheck && ' Nothing was made yet.'}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <Figure label={isCheck ? 'Links to create' : 'Links created'} value={formatCount(state.created)} />
        <Figure label="Already present" value={formatCount(state.skipped)} />
        <Figure label="Rows refused" value={formatCount(refused.length)} />
      </SimpleGrid>
      {state.waiting > 0 && (
        <Alert
          variant="outline"
          color="yellow"
          title={
            isCheck
              ? `${plural(state.waiting, 'link will wait', 'links will wait')} for a domain`
              : `${plural(state.waiting, 'link waits', 'links wait')} for a domain`
          }
        >
          They answer as soon as their domain is verified.{' '}
          <Anchor component={Link} href="/domains">
            Set its DNS record
          </Anchor>{' '}
          next.
        </Alert>
      )}
      {state.unknownColumns.length > 0 && (
        <Text size="sm">
          Not taken over, because a link here has no such field: {state.unknownColumns.join(', ')}.
        </Text>
      )}
      <Group>
        {isCheck ? (
          <Button onClick={startImport} disabled={state.created + state.skipped === 0}>
            Import {plural(file.rows, 'row', 'rows')}
          </Button>
        ) : (
          <Button component={Link} href="/links">
            See the links
          </Button>
        )}
        {refused.length > 0 && (
          <Button
            variant="default"
            leftSection={<IconDownload size={18} />}
            onClick={() =>
              saveFile(
                'refused-rows.csv',
                new Blob([refusedCsv(file, refused)], { type: 'text/csv;charset=utf-8' }),
              )
            }
          >
            Refused rows as CSV
          </Button>
        )}
      </Group>
      {refused.length > 0 && (
        <>
          <Title order={2} size="h4">
            {isCheck ? 'Rows that will be refused' : 'Rows that were refused'}
          </Title>
          {refused.length > SHOWN && <Text size="sm">The first {SHOWN}; the file has all of them.</Text>}
          <ScrollTable label="Refused rows" minWidth={640} columns={['Line', 'Link', 'Reason', 'Row']}>
            <Table.Tbody>
              {refused.slice(0, SHOWN).map((one) => (
                <Table.Tr key={`${one.line} ${one.link} ${one.field} ${one.message}`}>
                  <Table.Td>{one.line}</Table.Td>
                  <Table.Td miw={200}>
                    {/* Whole: the slug is at the end. */}
                    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                      {one.link ?? ''}
                    </Text>
                  </Table.Td>
                  <Table.Td>{reasonOf(one)}</Table.Td>
                  <Table.Td maw={280}>
                    <Text size="xs" truncate title={one.row.slice(0, 500)}>
                      {one.row.slice(0, 200)}
                    </Text>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </ScrollTable>
        </>
      )}
    </Stack>
  );
}
