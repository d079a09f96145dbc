import { cutText } from '../../text/cut.ts';
import { isYes, type SourceRow, textOf, yesNo } from '../source-row.ts';
import { tagsOf } from '../values.ts';
import { timeIn } from './times.ts';

const CREATED = ['createdat', 'created', 'datecreated', 'creationdate', 'timestamp'];
/** Columns whose "no" means that the visitor's query is not passed on. */
const FORWARDS = ['forwardparameters', 'forwardquery', 'redirectwithquery', 'passquery'];
/** Columns whose "yes" means the same. */
const DROPS = ['skipqs'];
const TEXT_LIMIT = 100;
/** Longest name of a folder. */
const FOLDER_LIMIT = 100;
const UTM = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'];

/**
 * Returns what a row of any format has beside its link, under the names of a create. The format's own fields come
 * first.
 */
export function carriedOf(
  row: SourceRow,
  { metadata, destination_url: destination }: Record<string, unknown>,
): Record<string, unknown> {
  const created = createdAt(row);
  const tags = tagsOf(row.columns.get('tags')?.value ?? row.columns.get('labels')?.value);
  const forwards = FORWARDS.map((key) => row.columns.get(key)?.value);
  const drops = DROPS.map((key) => row.columns.get(key)?.value);
  const given = typeof metadata === 'object' && metadata !== null ? metadata : {};
  return {
    ...(tags.length > 0 && { tags }),
    ...utmOf(row, destination),
    ...((forwards.some((value) => yesNo(value) === false) || drops.some(isYes)) && { forward_query: false }),
    ...(created !== null && { metadata: { created_at: created, ...given } }),
  };
}

/**
 * Returns the UTM parameters of a row. Other services store them beside the destination and in it; a destination that
 * has them stays as it was.
 */
function utmOf(row: SourceRow, destination: unknown): Record<string, unknown> {
  const given = UTM.flatMap((name) => {
    const text = textOf(row, name.replace('_', ''));
    return text === null || text === 'null' ? [] : [[name, text] as const];
  });
  if (given.length === 0) return {};
  const query =
    typeof destination === 'string' && URL.canParse(destination) ? new URL(destination).searchParams : null;
  const isThere = query !== null && given.every(([name]) => query.has(name));
  return { ...Object.fromEntries(given), ...(isThere && { append_utm: false }) };
}

/** Returns the name of a row's folder, cut to the limit of one; null: none. */
export function folderOf(row: SourceRow): string | null {
  const value = row.columns.get('folder')?.value;
  const named = typeof value === 'object' && value !== null && 'name' in value ? value.name : value;
  const text = typeof named === 'string' ? onOneLine(named) : onOneLine(textOf(row, 'foldername') ?? '');
  return text === '' || text === 'null' ? null : cutText(text, FOLDER_LIMIT);
}

const onOneLine = (text: string) => text.trim().replaceAll(/\s+/g, ' ');

function createdAt(row: SourceRow): string | null {
  const values = CREATED.map((key) => row.columns.get(key)?.value);
  const value = values.find(
    (one) => (typeof one === 'string' && one.trim() !== '') || typeof one === 'number',
  );
  return value === undefined ? null : timeIn(String(value).trim()).slice(0, TEXT_LIMIT);
}
