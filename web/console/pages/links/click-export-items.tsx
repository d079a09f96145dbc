import { Menu } from '@mantine/core';
import { apiUrl } from '../../api/call.ts';
import type { WindowQuery } from '../../parts/window.ts';

const FORMATS = [
  ['csv', 'CSV'],
  ['ndjson', 'NDJSON'],
  ['parquet', 'Parquet'],
] as const;

/**
 * Menu entries that export the period's clicks. The browser downloads them to disk, because there may be millions.
 *
 * @param linkId null: all links
 */
export function ClickExportItems({ window, linkId }: { window: WindowQuery; linkId: string | null }) {
  return (
    <>
      <Menu.Label>Clicks in this period</Menu.Label>
      {FORMATS.map(([format, name]) => (
        <Menu.Item
          key={format}
          component="a"
          href={apiUrl('/clicks/export', {
            format,
            ...(format === 'csv' && { bom: '1' }),
            ...window,
            link_id: linkId,
          })}
          download={`clicks.${format}`}
        >
          Clicks as {name}
        </Menu.Item>
      ))}
    </>
  );
}
