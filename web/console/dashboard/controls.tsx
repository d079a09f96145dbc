import { Button, Group } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconBookmark, IconDownload, IconFilter, IconShare2 } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, Suspense, useState } from 'react';
import { sentenceOf } from '../api/sentence.ts';
import { PageHeader } from '../parts/page-header.tsx';
import { lazyPage } from '../shell/lazy-page.tsx';
import { exportShown } from './export-csv.ts';
import { FilterChips } from './filter-chips.tsx';
import { ComparisonSelect, PeriodSelect } from './period-controls.tsx';
import { useSource } from './source.ts';
import { useView } from './use-view.ts';
import type { Filter } from './view.ts';

const FILTER = lazyPage<{ filter: Filter | null; close: () => void }>(() => import('./filter-dialog.tsx'));
const VIEWS = lazyPage<{ close: () => void }>(() => import('./saved-views-dialog.tsx'));
const SHARE = lazyPage<{ close: () => void }>(() => import('./share-dialog.tsx'));

type Dialog = { kind: 'filter'; filter: Filter | null } | { kind: 'views' } | { kind: 'share' };

/** The page's title with its filters, time range and actions. On a phone one button opens them. */
export function Controls({ title }: { title: string }) {
  const { view } = useView();
  const { isConsole } = useSource();
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [isOpen, setOpen] = useState(false);
  const close = () => setDialog(null);
  const count = view.filters.length;
  return (
    <>
      <PageHeader title={title}>
        <PeriodSelect />
        <Button
          hiddenFrom="sm"
          variant="default"
          leftSection={<IconFilter size={16} stroke={1.6} />}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {count > 0 ? `Filters (${count})` : 'Filters'}
        </Button>
      </PageHeader>
      <Group gap="xs" mb="md" className="dashboard-controls" data-open={isOpen || undefined}>
        <Button
          variant="default"
          leftSection={<IconFilter size={16} stroke={1.6} />}
          onClick={() => setDialog({ kind: 'filter', filter: null })}
        >
          Add filter
        </Button>
        <FilterChips edit={(filter) => setDialog({ kind: 'filter', filter })} />
        <Group gap="xs" ml={{ base: 0, sm: 'auto' }}>
          <ComparisonSelect />
          {isConsole && (
            <>
              <Action
                icon={<IconBookmark size={16} stroke={1.6} />}
                open={() => setDialog({ kind: 'views' })}
              >
                Saved views
              </Action>
              <Action icon={<IconShare2 size={16} stroke={1.6} />} open={() => setDialog({ kind: 'share' })}>
                Share
              </Action>
            </>
          )}
          <ExportButton />
        </Group>
      </Group>
      {dialog && (
        <Suspense fallback={null}>
          <Opened dialog={dialog} close={close} />
        </Suspense>
      )}
    </>
  );
}

function Action({ icon, open, children }: { icon: ReactNode; open: () => void; children: ReactNode }) {
  return (
    <Button variant="default" leftSection={icon} onClick={open}>
      {children}
    </Button>
  );
}

function Opened({ dialog, close }: { dialog: Dialog; close: () => void }) {
  const [FilterDialog] = useState(() => FILTER.component());
  const [ViewsDialog] = useState(() => VIEWS.component());
  const [ShareDialog] = useState(() => SHARE.component());
  if (dialog.kind === 'filter') return <FilterDialog filter={dialog.filter} close={close} />;
  return dialog.kind === 'views' ? <ViewsDialog close={close} /> : <ShareDialog close={close} />;
}

/** Saves exactly what the page shows. */
function ExportButton() {
  const { view, search } = useView();
  const source = useSource();
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      await exportShown(queries, source, view, search);
    } catch (error) {
      notifications.show({ message: sentenceOf(error), color: 'red' });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={16} stroke={1.6} />}
      loading={isBusy}
      onClick={() => void save()}
    >
      Export
    </Button>
  );
}
