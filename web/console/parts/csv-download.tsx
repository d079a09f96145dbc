import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { apiUrl, type Query } from '../api/call.ts';

type Props = {
  /** Of a list of the API that is also a file. */
  path: string;
  /** The filters of the list. */
  query: Query;
  /** Name of the file, without `.csv`. */
  name: string;
};

/** Saves all rows of a list as CSV. The browser downloads them to disk, because there may be many. */
export const CsvDownload = ({ path, query, name }: Props) => (
  <Button
    component="a"
    href={apiUrl(path, { ...query, format: 'csv', bom: '1' })}
    download={`${name}.csv`}
    size="xs"
    variant="default"
    leftSection={<IconDownload size={16} aria-hidden />}
    title="All rows that pass the filters, not only this page"
  >
    Export CSV
  </Button>
);
