import { callApi } from '../../api/call.ts';
import type { LinkRecord } from '../../api/links.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { formerFields } from '../../parts/changed-fields.ts';

export type ChangeResults = ResponseOf<'/links/bulk', 'patch'>['results'];

/** Fields of links that can be set to what they were. */
const RESTORABLE = ['archived', 'tags', 'folder_id'] as const;
export type Restorable = (typeof RESTORABLE)[number];

const isRestorable = (field: string): boolean => RESTORABLE.some((known) => known === field);

/** The change that sets the fields of another change back; null where one of them can't be. */
export const backOf = (change: object, before: Pick<LinkRecord, Restorable>): object | null =>
  Object.keys(change).every(isRestorable) ? formerFields(change, before) : null;

/** Sets a field of several links, each to its own value. Links with the same value are changed in one call. */
export async function setEach<Field extends Restorable>(
  field: Field,
  links: readonly { id: string; value: LinkRecord[Field] }[],
): Promise<ChangeResults> {
  const groups = new Map<string, { value: LinkRecord[Field]; ids: string[] }>();
  for (const { id, value } of links) {
    const group = groups.get(JSON.stringify(value)) ?? { value, ids: [] };
    groups.set(JSON.stringify(value), group);
    group.ids.push(id);
  }
  const results: ChangeResults = [];
  for (const { value, ids } of groups.values()) {
    const body = { ids, set: { [field]: value } };
    const answer = await callApi<{ results: ChangeResults }>('/links/bulk', { method: 'PATCH', body });
    results.push(...answer.results);
  }
  return results;
}
