import { cutText } from '../../text/cut.ts';
import { isYes, type SourceRow, textOf, yesNo } from '../source-row.ts';
import { defined, listOf, tagsOf } from '../values.ts';
import { cardImage } from './card-image.ts';
import { timeIn } from './times.ts';

const CREATED = ['createdat', 'created', 'datecreated', 'creationdate', 'timestamp'];
/** Columns whose "no" means that the visitor's query is not passed on. */
const FORWARDS = [
  'forwardparameters',
  'forwardquery',
  'redirectwithquery',
  'passquery',
  'paramforwarding',
  'parameterforwarding',
];
/** Columns whose "yes" means the same. */
const DROPS = ['skipqs'];
const REDIRECT_STATUSES = ['redirectstatus', 'redirecttype', 'redirectcode'];
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
  const tags = tagsIn(row);
  const forwards = FORWARDS.map((key) => row.columns.get(key)?.value);
  const drops = DROPS.map((key) => row.columns.get(key)?.value);
  const given = typeof metadata === 'object' && metadata !== null ? metadata : {};
  return {
    ...(tags.length > 0 && { tags }),
    ...utmOf(row, destination),
    ...redirectStatusOf(row),
    ...cardOf(row),
    ...appsOf(row),
    ...((forwards.some((value) => yesNo(value) === false) || drops.some(isYes)) && { forward_query: false }),
    ...(created !== null && { metadata: { created_at: created, ...given } }),
  };
}

/** Returns the tags of a row. A column with a tag that cannot be read is named as not taken over. */
function tagsIn(row: SourceRow): string[] {
  const value = row.columns.get('tags')?.value ?? row.columns.get('labels')?.value;
  const isLost = Array.isArray(value) && value.some((one) => one !== null && listOf([one]).length === 0);
  if (isLost) row.columns.left.add(row.columns.has('tags') ? 'tags' : 'labels');
  return tagsOf(value);
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

/** Returns the status of a redirect, where the row has one that links have here. */
function redirectStatusOf(row: SourceRow): { redirect_status?: number } {
  const key = REDIRECT_STATUSES.find((one) => /^30[1278]$/.test(String(row.columns.peek(one)?.value).trim()));
  return key === undefined ? {} : { redirect_status: Number(row.columns.get(key)?.value) };
}

/** Returns the card of a list with columns of Open Graph. */
function cardOf(row: SourceRow): { preview?: Record<string, unknown> } {
  const image = cardImage(row, textOf(row, 'ogimage', 'ogimageurl'), 'ogimage');
  const card = defined({
    title: textOf(row, 'ogtitle'),
    description: textOf(row, 'ogdescription'),
    image_url: image,
  });
  return Object.keys(card).length === 0 ? {} : { preview: card };
}

/** Returns the destinations of systems in a list. */
function appsOf(row: SourceRow): { targeting?: Record<string, unknown> } {
  const apps = defined({ ios: textOf(row, 'iosurl'), android: textOf(row, 'androidurl') });
  return Object.keys(apps).length === 0 ? {} : { targeting: apps };
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
