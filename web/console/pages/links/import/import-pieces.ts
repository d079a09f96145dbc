import { delimitedRows } from '../../../../../core/link-imports/delimited.ts';
import { jsonRows } from '../../../../../core/link-imports/json-rows.ts';
import { LINK_NAMES } from '../../../../../core/link-imports/meaning/link-names.ts';
import { columnKey, type RowProblem, textOf } from '../../../../../core/link-imports/source-row.ts';
import { encodingOf, formOf, type TextForm } from '../../../../../core/link-imports/text-form.ts';
import { csvRecords } from './csv-records.ts';

/** Rows per request: few, for smooth progress and quick cancellation. */
const PIECE_ROWS = 200;
/** Rows of one name go into one piece, up to this many: the check of a piece does not see the links of others. */
const MOST_ROWS = 1_000;
/** Characters per request after which no row is added. */
const PIECE_CHARACTERS = 2_000_000;
/** A longer row counts as an unclosed quote. Characters. */
const ROW_CHARACTERS = 1_000_000;
/** Maximum file size in bytes; larger files need the command. */
const FILE_LIMIT = 64 * 1_048_576;

/** A row of the file with its first line, from 1. */
export type FileRow = { line: number; text: string };

/** The content of one request. */
export type Piece = {
  text: string;
  /** The file's rows by their first line in `text`. */
  rows: Map<number, FileRow>;
};

/** A refused row. */
export type Refusal = {
  line: number;
  link: string | null;
  field: string | null;
  message: string;
  row: string;
};

/** A file that is ready to be imported. */
export type ImportFile = {
  name: string;
  /** The header line and the delimiter; null: JSON. */
  header: { text: string; delimiter: string } | null;
  rows: number;
  pieces: Piece[];
  /** Rows that cannot be sent. */
  refused: Refusal[];
};

/** A file that cannot be imported; the message is for the person. */
export class FileProblem extends Error {
  override name = 'FileProblem';
}

/**
 * Reads a file and splits it into pieces of whole rows.
 *
 * @throws {FileProblem} if it is too large, empty or not text
 */
export async function readImportFile(file: File): Promise<ImportFile> {
  if (file.size > FILE_LIMIT) {
    throw new FileProblem('is larger than 64 MB. Split it, or use the command hoplog import links.');
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = new TextDecoder(encodingOf(bytes)).decode(bytes);
  if (text.trim() === '') throw new FileProblem('is empty.');
  if (text.includes('\0')) throw new FileProblem('is not text. Export it as CSV.');
  const form = formOf(text);
  const cut = form.kind === 'json' ? await cutJson(text) : await cutCsv(text, form);
  if (cut.rows === 0) throw new FileProblem('has no rows.');
  return { name: file.name, ...cut };
}

type Cut = Omit<ImportFile, 'name'>;

async function cutCsv(text: string, form: Extract<TextForm, { kind: 'csv' }>): Promise<Cut> {
  const names = await namesOf(text, form);
  let header: string | null = null;
  /** The start of every piece: the header, after Excel's line `sep=;` if present. */
  let head = '';
  let headLines = 0;
  const collected = collector(() => ({ text: head, lines: headLines }));
  for (const record of csvRecords(text, form.delimiter)) {
    if (record.line < form.firstLine || record.text.trim() === '') continue;
    if (header === null) {
      header = record.text;
      head = text.slice(0, record.end);
      if (!/[\r\n]$/.test(head)) head += '\n';
      headLines = record.line + record.lines - 1;
    } else if (!isBlank(record.text, form.delimiter)) {
      const row = { line: record.line, text: record.text };
      collected.add(row, names.get(record.line) ?? null, `${record.text}\n`, record.lines);
    }
  }
  return { header: { text: header ?? '', delimiter: form.delimiter }, ...collected.end() };
}

/** Returns what names the link of each row, by the line where it begins. */
async function namesOf(text: string, form: Extract<TextForm, { kind: 'csv' }>): Promise<Map<number, string>> {
  const names = new Map<number, string>();
  let columns: number[] | null = null;
  for await (const row of delimitedRows(whole(text), form)) {
    if ('problem' in row || row.values.every((value) => value.trim() === '')) continue;
    if (columns === null) {
      const keys = row.values.map(columnKey);
      columns = LINK_NAMES.map((name) => keys.indexOf(name)).filter((column) => column >= 0);
      continue;
    }
    const name = columns.map((column) => row.values[column]?.trim() ?? '').find((value) => value !== '');
    if (name !== undefined) names.set(row.line, name);
  }
  return names;
}

async function* whole(text: string) {
  yield text;
}

/** An empty row, as spreadsheets leave at the end: the API ignores it, and so does the report. */
const isBlank = (text: string, delimiter: string) =>
  text.split(delimiter).every((value) => ['', '""'].includes(value.trim()));

async function cutJson(text: string): Promise<Cut> {
  const collected = collector(() => ({ text: '[\n', lines: 1 }), ']');
  for await (const row of jsonRows(whole(text))) {
    if ('problem' in row) collected.refuse({ line: row.line, text: '' }, row.problem);
    else if (row.contradiction) {
      // The values below have the key once.
      collected.refuse({ line: row.line, text: '' }, row.contradiction);
    } else {
      const json = JSON.stringify(row.values);
      collected.add({ line: row.line, text: json }, textOf(row, ...LINK_NAMES), `${json},\n`, 1);
    }
  }
  return { header: null, ...collected.end() };
}

type OpenPiece = Piece & { nextLine: number };

/**
 * Groups rows into pieces.
 *
 * @param head the start of a piece and its number of lines
 */
function collector(head: () => { text: string; lines: number }, tail = '') {
  const pieces: OpenPiece[] = [];
  /** The piece that has the row of a name, in any case. */
  const byName = new Map<string, OpenPiece>();
  const refused: Refusal[] = [];
  let rows = 0;
  const hasRoom = ({ rows, text }: OpenPiece, most: number, more: string) =>
    rows.size < most && text.length + more.length <= PIECE_CHARACTERS;
  const pieceFor = (key: string | null, text: string): OpenPiece => {
    const known = key === null ? undefined : byName.get(key);
    if (known && hasRoom(known, MOST_ROWS, text)) return known;
    const last = pieces.at(-1);
    if (last && hasRoom(last, PIECE_ROWS, text)) return last;
    const begin = head();
    const piece: OpenPiece = { text: begin.text, rows: new Map(), nextLine: begin.lines + 1 };
    pieces.push(piece);
    return piece;
  };
  const refuse = ({ line, text }: FileRow, { column, message }: Pick<RowProblem, 'column' | 'message'>) => {
    rows += 1;
    refused.push({ line, link: null, field: column, message, row: text.slice(0, 1_000) });
  };
  return {
    refuse,
    add(row: FileRow, name: string | null, text: string, lines: number) {
      if (text.length > ROW_CHARACTERS) {
        const message = 'is longer than a million characters. Check for an unclosed quote.';
        refuse(row, { column: null, message });
        return;
      }
      const key = name?.toLowerCase() ?? null;
      const piece = pieceFor(key, text);
      if (key !== null) byName.set(key, piece);
      piece.rows.set(piece.nextLine, row);
      piece.text += text;
      piece.nextLine += lines;
      rows += 1;
    },
    end() {
      return { pieces: pieces.map((one) => ({ text: one.text + tail, rows: one.rows })), refused, rows };
    },
  };
}
