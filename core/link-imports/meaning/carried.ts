import type { SourceRow } from '../source-row.ts';
import { tagsOf } from '../values.ts';
import { timeIn } from './times.ts';

const CREATED = ['createdat', 'created', 'datecreated', 'creationdate', 'timestamp'];
/** A no means that the visitor's query is not passed on. */
const FORWARDS = ['forwardparameters', 'forwardquery', 'redirectwithquery', 'passquery'];
/** A yes means that. */
const DROPS = ['skipqs'];
const TEXT_LIMIT = 100;

/** Returns what a row of any format has beside its link, under the names of a create. The format's own fields come first. */
export function carriedOf(row: SourceRow, { metadata }: Record<string, unknown>): Record<string, unknown> {
  const created = createdAt(row);
  const tags = tagsOf(row.columns.get('tags')?.value ?? row.columns.get('labels')?.value);
  const forwards = FORWARDS.map((key) => row.columns.get(key)?.value);
  const drops = DROPS.map((key) => row.columns.get(key)?.value);
  const given = typeof metadata === 'object' && metadata !== null ? metadata : {};
  return {
    ...(tags.length > 0 && { tags }),
    ...((forwards.some(isFalse) || drops.some(isTrue)) && { forward_query: false }),
    ...(created !== null && { metadata: { created_at: created, ...given } }),
  };
}

const isFalse = (value: unknown) =>
  value === false || (typeof value === 'string' && /^(?:false|no|0)$/i.test(value.trim()));
const isTrue = (value: unknown) =>
  value === true || (typeof value === 'string' && /^(?:true|yes|1)$/i.test(value.trim()));

function createdAt(row: SourceRow): string | null {
  const values = CREATED.map((key) => row.columns.get(key)?.value);
  const value = values.find(
    (one) => (typeof one === 'string' && one.trim() !== '') || typeof one === 'number',
  );
  return value === undefined ? null : timeIn(String(value).trim()).slice(0, TEXT_LIMIT);
}
