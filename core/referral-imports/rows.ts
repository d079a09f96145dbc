import { PROVIDERS } from '../connections/providers.ts';
import { delimitedRows } from '../link-imports/delimited.ts';
import { namedValues, type ReadRow, RowProblem, sourceRow } from '../link-imports/source-row.ts';
import { unstorableIn } from '../text/storable.ts';
import { fieldKey } from './field-key.ts';
import type { Kind, ReferralFormat } from './format.ts';
import { isStateColumn } from './states.ts';

/** A file whose first row was read. */
export type ReferralFile = {
  kind: Kind;
  /** Whether each row of a file of customers is a referrer too. */
  holdsPartners: boolean;
  columns: string[];
  rows: AsyncGenerator<ReadRow>;
};

/** Columns of customers that every format may have. */
const PROVIDER_COLUMNS: readonly string[] = PROVIDERS.map((provider) => `${provider}_customer_id`);

/**
 * Reads the names of columns, which identify the kind of the file.
 *
 * @returns null when the file has no row
 */
export async function openReferralFile(
  format: ReferralFormat,
  text: AsyncIterable<string>,
  form: { delimiter: string; firstLine: number },
): Promise<ReferralFile | null> {
  const rows = delimitedRows(text, form);
  for (;;) {
    const next = await rows.next();
    if (next.done) return null;
    if ('problem' in next.value) throw new RowProblem(null, next.value.problem);
    const columns = next.value.values.map((name) => name.trim());
    if (columns.every((name) => name === '')) continue;
    const kind = kindOf(format, columns);
    const keys = new Set(columns.map(fieldKey));
    const holdsPartners =
      kind === 'customers' && (format.alsoPartners ?? []).some((name) => keys.has(fieldKey(name)));
    return { kind, holdsPartners, columns, rows: read(rows, columns) };
  }
}

/** Returns the columns of a file that its format does not read, and that the import therefore ignores. */
export function unknownColumns(
  format: ReferralFormat,
  { kind, holdsPartners, columns }: Pick<ReferralFile, 'kind' | 'holdsPartners' | 'columns'>,
): string[] {
  const read = [
    ...Object.values(format.columns[kind]).flat(),
    ...(holdsPartners ? Object.values(format.columns.partners).flat() : []),
    ...(kind === 'customers' ? PROVIDER_COLUMNS : []),
  ];
  const keys = new Set(read.map(fieldKey));
  const kinds = holdsPartners ? (['customers', 'partners'] as const) : [kind];
  return columns.filter(
    (name) => name !== '' && !keys.has(fieldKey(name)) && !kinds.some((one) => isStateColumn(one, name)),
  );
}

function kindOf(format: ReferralFormat, columns: string[]): Kind {
  const keys = new Set(columns.map(fieldKey));
  return format.marks.find(({ column }) => keys.has(fieldKey(column)))?.kind ?? 'partners';
}

async function* read(rows: ReturnType<typeof delimitedRows>, columns: string[]): AsyncGenerator<ReadRow> {
  for await (const row of rows) {
    const { line } = row;
    if ('problem' in row) {
      yield { line, problem: new RowProblem(null, row.problem) };
      continue;
    }
    const { values } = row;
    if (values.every((value) => value.trim() === '')) continue;
    if (values.length < columns.length || values.slice(columns.length).some((value) => value.trim() !== '')) {
      const message = `has ${values.length} values for ${columns.length} columns: quote values that hold the delimiter or a newline`;
      yield { line, problem: new RowProblem(null, message) };
      continue;
    }
    const { named, contradiction } = namedValues(columns, values, fieldKey);
    const unstorable = unstorableIn(named);
    if (contradiction) yield { line, problem: contradiction };
    else
      yield unstorable
        ? { line, problem: new RowProblem(unstorable.path || null, unstorable.message) }
        : sourceRow('csv', line, named);
  }
}
