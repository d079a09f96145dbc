import { Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { sentenceOf } from '../../api/sentence.ts';
import { saveFile } from '../../parts/save-file.ts';
import { ClickExportItems } from './click-export-items.tsx';
import { linksCsv } from './links-csv.ts';
import { type LinksView, searchQuery } from './links-view.ts';

/** Exports the filtered links and the period's clicks. */
export function ExportMenu({ view, withFigures }: { view: LinksView; withFigures: boolean }) {
  const [progress, setProgress] = useState<string | null>(null);
  const exportLinks = async () => {
    setProgress('Reading links');
    try {
      const text = await linksCsv(searchQuery(view, withFigures), (done, total) =>
        setProgress(`${done} of ${total} links`),
      );
      saveFile('links.csv', new Blob([text], { type: 'text/csv;charset=utf-8' }));
    } catch (error) {
      notifications.show({ message: sentenceOf(error), color: 'red' });
    } finally {
      setProgress(null);
    }
  };
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={18} />} disabled={progress !== null}>
          {progress ?? 'Export'}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void exportLinks()}>These links as CSV</Menu.Item>
        {withFigures && <ClickExportItems window={view.window} linkId={null} />}
      </Menu.Dropdown>
    </Menu>
  );
}
