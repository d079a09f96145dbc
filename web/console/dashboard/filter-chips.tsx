import { Group } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { TextPress } from '../parts/text-press.tsx';
import { ID_DIMENSIONS } from './dimensions.ts';
import { filterWords } from './filter-words.ts';
import { baseOf, sentFilter, useAnalytics, useSource } from './source.ts';
import { useView } from './use-view.ts';
import { type Filter, filterText, type View } from './view.ts';

/** The filters in use. A press on one changes it, its cross removes it. */
export function FilterChips({ edit }: { edit: (filter: Filter) => void }) {
  const { view, setFilters } = useView();
  const { filters } = view;
  if (filters.length === 0) return null;
  return (
    <Group component="ul" gap={6} mb="md" className="chips" aria-label="Filters">
      {filters.map((filter) => (
        <li key={filterText(filter)} className="chip">
          <Chip
            filter={filter}
            view={view}
            edit={() => edit(filter)}
            remove={() => setFilters(filters.filter((one) => one !== filter))}
          />
        </li>
      ))}
      {filters.length > 1 && (
        <li>
          <TextPress onClick={() => setFilters([])}>Clear all</TextPress>
        </li>
      )}
    </Group>
  );
}

type ChipProps = { filter: Filter; view: View; edit: () => void; remove: () => void };

function Chip({ filter, view, edit, remove }: ChipProps) {
  const source = useSource();
  const isOfIds = ID_DIMENSIONS.has(filter.dimension) && filter.values.length > 0;
  // The names of ids come with figures. The view's other filters must not leave them out.
  const named = useAnalytics(
    isOfIds
      ? {
          ...baseOf({ ...view, filters: [], comparison: { kind: 'none' } }, source),
          metrics: ['clicks'],
          dimensions: [filter.dimension],
          filters: [sentFilter({ ...filter, operator: 'is' })],
        }
      : null,
  );
  const words = filterWords(filter, named.data?.names);
  return (
    <>
      <button type="button" className="chip-words" onClick={edit} title="Change the filter">
        {words}
      </button>
      <button
        type="button"
        className="chip-remove"
        onClick={remove}
        aria-label={`Remove the filter ${words}`}
      >
        <IconX size={14} stroke={2} />
      </button>
    </>
  );
}
