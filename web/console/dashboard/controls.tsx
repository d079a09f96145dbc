import { ActionIcon, Group } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconBookmark, IconDownload, IconFilter, IconShare2 } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { type ComponentType, Suspense, useState } from 'react';
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

/**
 * The page's title with its period, comparison, filters and actions in one bar. Where there is no room, one button
 * opens all but the period.
 */
export function Controls({ title }: { title: string }) {
  const { view } = useView();
  const { isConsole } = useSource();
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [isOpen, setOpen] = useState(false);
  const close = () => setDialog(null);
  const count = view.filters.length;
  const filters = count > 0 ? `Filters (${count})` : 'Filters';
  const controls = (
    <>
      <ComparisonSelect />
      <Action label="Add filter" icon={IconFilter} open={() => setDialog({ kind: 'filter', filter: null })} />
      {isConsole && (
        <>
          <Action label="Saved views" icon={IconBookmark} open={() => setDialog({ kind: 'views' })} />
          <Action label="Share" icon={IconShare2} open={() => setDialog({ kind: 'share' })} />
        </>
      )}
      <ExportButton />
    </>
  );
  return (
    <>
      <PageHeader title={title} isOneLine>
        <PeriodSelect />
        <ActionIcon
          hiddenFrom="md"
          variant="default"
          size={36}
          aria-label={filters}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <IconFilter size={18} stroke={1.6} />
        </ActionIcon>
        <Group gap="xs" wrap="nowrap" visibleFrom="md">
          {controls}
        </Group>
      </PageHeader>
      {isOpen && (
        <Group gap="xs" mb="md" hiddenFrom="md">
          {controls}
        </Group>
      )}
      <FilterChips edit={(filter) => setDialog({ kind: 'filter', filter })} />
      {dialog && (
        <Suspense fallback={null}>
          <Opened dialog={dialog} close={close} />
        </Suspense>
      )}
    </>
  );
}

type Sign = ComponentType<{ size?: number | string; stroke?: number | string }>;

function Action({ label, icon: Icon, open }: { label: string; icon: Sign; open: () => void }) {
  return (
    <ActionIcon variant="default" size={36} aria-label={label} title={label} onClick={open}>
      <Icon size={18} stroke={1.6} />
    </ActionIcon>
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
    <ActionIcon
      variant="default"
      size={36}
      aria-label="Export"
      title="Export"
      loading={isBusy}
      onClick={() => void save()}
    >
      <IconDownload size={18} stroke={1.6} />
    </ActionIcon>
  );
}
