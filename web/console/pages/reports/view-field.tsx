import { NativeSelect } from '@mantine/core';
import { useApi } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';

/** What a report or an alert is about: a saved view, or a query of its own. */
type Shown = { saved_view_id: string | null; query: Record<string, unknown> | null };

type Props = {
  /** The report or alert; null: a new one. */
  of: Shown | null;
  /** What a choice does. */
  about: string;
  /** Id of the chosen view; empty: a query of its own. */
  value: string;
  error?: string | null;
  choose: (view: string) => void;
};

/** The choice of a view. Without one, it is about all clicks. */
export function ViewField({ of, about, value, error, choose }: Props) {
  const views = useApi<ResponseOf<'/saved-views'>>('/saved-views', { limit: 500 });
  return (
    <NativeSelect
      label="View"
      description={`${about} Save views on the overview.`}
      data={[
        { value: '', label: unsavedView(of) },
        ...(views.data?.saved_views ?? []).map(({ id, name }) => ({ value: id, label: name })),
      ]}
      value={value}
      error={error}
      onChange={(event) => choose(event.currentTarget.value)}
    />
  );
}

/** Says what a report or an alert without a saved view is about. */
export const unsavedView = (of: Shown | null): string =>
  of !== null && of.saved_view_id === null && Object.keys(of.query ?? {}).length > 0
    ? 'A view of its own'
    : 'All clicks';

/** Returns the fields of a body that choose a view. @param of the report or alert; null: a new one */
export const viewBody = (view: string, of: Shown | null) =>
  view !== '' ? { saved_view_id: view } : of === null || of.saved_view_id !== null ? { query: {} } : {};
