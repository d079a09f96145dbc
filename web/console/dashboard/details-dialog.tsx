import { Button, Group, Table } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconDownload } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { sentenceOf } from '../api/sentence.ts';
import { formatCount } from '../formats.ts';
import { Dialog } from '../parts/dialog.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Note } from '../parts/note.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { LongTextCell, ScrollTable } from '../parts/scroll-table.tsx';
import {
  DIMENSION_NAMES,
  flagBeside,
  formatMetric,
  METRIC_NAMES,
  type Tab,
  valueIn,
  valueName,
} from './dimensions.ts';
import { exportList } from './export-csv.ts';
import { breakdownBody, metricsFor, useAnalytics, useSource } from './source.ts';
import { useView } from './use-view.ts';

/** Rows of a page of the dialog. */
const ROWS = 50;

/** All values of a dimension with all metrics. A press filters by a value. */
export default function DetailsDialog({ tab, close }: { tab: Tab; close: () => void }) {
  const { view, toggle } = useView();
  const source = useSource();
  const queries = useQueryClient();
  const [page, setPage] = useState(0);
  const [isExporting, setExporting] = useState(false);
  const { dimension } = tab;
  const title = tab.map ? 'Countries' : tab.title;
  const metrics = metricsFor(source);
  const query = useAnalytics(
    breakdownBody(view, source, dimension, { metrics, limit: ROWS, offset: page * ROWS }),
  );
  const save = async () => {
    setExporting(true);
    try {
      await exportList(queries, source, view, dimension);
    } catch (error) {
      notifications.show({ message: sentenceOf(error), color: 'red' });
    } finally {
      setExporting(false);
    }
  };
  return (
    <Dialog title={title} close={close} size="xl">
      <QueryView
        query={query}
        lines={10}
        empty={{ when: ({ rows }) => rows.length === 0, show: <EmptyState title="No data in this period" /> }}
      >
        {({ rows, names, total_rows: total }) => (
          <>
            <ScrollTable
              label={`All ${title.toLowerCase()}`}
              minWidth={640}
              horizontalSpacing="xs"
              columns={[
                DIMENSION_NAMES[dimension] ?? dimension,
                ...metrics.map((metric) => ({ figure: METRIC_NAMES[metric] })),
              ]}
            >
              <Table.Tbody>
                {rows.map((row) => {
                  const value = valueIn(row, dimension);
                  const name = valueName(dimension, value, names);
                  return (
                    <Table.Tr key={value ?? ''}>
                      <LongTextCell>
                        <button
                          type="button"
                          className="text-press"
                          title={`Filter by ${name}`}
                          onClick={() => {
                            toggle(dimension, value);
                            close();
                          }}
                        >
                          {`${flagBeside(dimension, value)} ${name}`.trim()}
                        </button>
                      </LongTextCell>
                      {metrics.map((metric) => (
                        <Table.Td key={metric} ta="right">
                          {formatMetric(metric, row.metrics[metric], source.currency)}
                        </Table.Td>
                      ))}
                    </Table.Tr>
                  );
                })}
              </Table.Tbody>
            </ScrollTable>
            <Group justify="space-between" mt="sm" gap="sm">
              <Group gap="xs">
                {total > ROWS && (
                  <>
                    <Button
                      size="xs"
                      variant="default"
                      disabled={page === 0}
                      onClick={() => setPage(page - 1)}
                    >
                      Previous
                    </Button>
                    <Button
                      size="xs"
                      variant="default"
                      disabled={(page + 1) * ROWS >= total}
                      onClick={() => setPage(page + 1)}
                    >
                      Next
                    </Button>
                  </>
                )}
                <Note>
                  {`${formatCount(page * ROWS + 1)} to ${formatCount(page * ROWS + rows.length)} of ${formatCount(total)}`}
                </Note>
              </Group>
              <Button
                size="xs"
                variant="default"
                leftSection={<IconDownload size={16} />}
                loading={isExporting}
                onClick={() => void save()}
              >
                Export as CSV
              </Button>
            </Group>
          </>
        )}
      </QueryView>
    </Dialog>
  );
}
