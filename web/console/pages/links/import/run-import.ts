import { callApi } from '../../../api/call.ts';
import { isRetryable } from '../../../api/failures.ts';
import type { ResponseOf } from '../../../api/responses.ts';
import { type ImportOptions, optionsBody } from './import-options.tsx';
import type { ImportFile, Piece, Refusal } from './import-pieces.ts';

/** Pauses before each retry. Milliseconds. */
const PAUSES = [1_000, 3_000, 9_000];

/** Progress of an import. Created, skipped and refused rows count as done. */
export type ImportState = {
  format: string | null;
  unknownColumns: string[];
  done: number;
  /** Links created; a row with several channels creates several. */
  created: number;
  /** Those of them that answer once their domain is verified. */
  waiting: number;
  /** Rows whose link already existed. */
  skipped: number;
  refused: Refusal[];
};

type Imported = ResponseOf<'/links/import', 'post'>;

/**
 * Sends a file piece by piece. A check writes nothing. A request without a response is retried; links that it had
 * created are then skipped.
 *
 * @param signal stops after the current request
 * @returns the final state, also if canceled
 * @throws {ApiFailure} if a request is refused, or fails after all retries
 */
export async function runImport(
  file: ImportFile,
  options: ImportOptions & { isCheck: boolean },
  signal: AbortSignal,
  onState: (state: ImportState) => void,
): Promise<ImportState> {
  let state: ImportState = {
    format: null,
    unknownColumns: [],
    done: file.refused.length,
    created: 0,
    waiting: 0,
    skipped: 0,
    refused: file.refused,
  };
  onState(state);
  for (const piece of file.pieces) {
    if (signal.aborted) break;
    const got = await send(piece, options, state.created, signal);
    state = {
      format: state.format ?? got.format,
      unknownColumns: [...new Set([...state.unknownColumns, ...got.unknown_columns])],
      done: state.done + piece.rows.size,
      created: state.created + got.created,
      waiting: state.waiting + got.waiting,
      skipped: state.skipped + got.skipped,
      refused: [...state.refused, ...byRow(got.errors).map((error) => inFile(error, piece))],
    };
    onState(state);
  }
  return { ...state, refused: state.refused.toSorted((a, b) => a.line - b.line) };
}

async function send(
  piece: Piece,
  options: ImportOptions & { isCheck: boolean },
  earlier: number,
  signal: AbortSignal,
): Promise<Imported> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await callApi<Imported>('/links/import', {
        method: 'POST',
        // The check of a piece does not see what the checks of others would make.
        body: {
          text: piece.text,
          ...optionsBody(options),
          ...(options.isCheck && { dry_run: true, earlier_links: earlier }),
        },
      });
    } catch (error) {
      const pause = PAUSES[tries];
      if (pause === undefined || !isRetryable(error) || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/** One error for each row: the file has its row once, however many problems it has. */
function byRow(errors: Imported['errors']): Imported['errors'] {
  const rows = new Map<number, Imported['errors'][number]>();
  for (const error of errors) {
    const first = rows.get(error.line);
    const named = error.field === null ? error.message : `${error.field}: ${error.message}`;
    rows.set(error.line, first ? { ...first, message: `${first.message}; ${named}` } : error);
  }
  return [...rows.values()];
}

/** A refusal with the file's line number. */
function inFile({ line, link, field, message }: Imported['errors'][number], { rows }: Piece): Refusal {
  const row = rows.get(line) ?? [...rows.values()][0];
  return { line: row?.line ?? line, link, field, message, row: row?.text ?? '' };
}
