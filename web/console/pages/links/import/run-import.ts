import { callApi } from '../../../api/call.ts';
import { isRetryable } from '../../../api/failures.ts';
import type { ResponseOf } from '../../../api/responses.ts';
import type { ImportFile, Piece, Refusal } from './import-pieces.ts';

/** Pauses before a call is tried again. Milliseconds. */
const PAUSES = [1_000, 3_000, 9_000];

/** How far an import is. Rows count as done when they were made, skipped or refused. */
export type ImportState = {
  format: string | null;
  unknownColumns: string[];
  done: number;
  /** Links that were made: a row of several channels makes several. */
  created: number;
  /** Rows whose link was there already. */
  skipped: number;
  refused: Refusal[];
};

type Imported = ResponseOf<'/links/import', 'post'>;

/**
 * Sends a file piece by piece. A call that got no answer is sent again: what it had made is then skipped.
 *
 * @param channel of rows that name none
 * @param signal ends it after the call that is under way
 * @returns the state at the end, also when it was canceled
 * @throws {ApiFailure} when a call is refused as a whole, or still fails after some tries
 */
export async function runImport(
  file: ImportFile,
  channel: string,
  signal: AbortSignal,
  onState: (state: ImportState) => void,
): Promise<ImportState> {
  let state: ImportState = {
    format: null,
    unknownColumns: [],
    done: file.refused.length,
    created: 0,
    skipped: 0,
    refused: file.refused,
  };
  onState(state);
  for (const piece of file.pieces) {
    if (signal.aborted) break;
    const got = await send(piece, channel, signal);
    state = {
      format: state.format ?? got.format,
      unknownColumns: got.unknown_columns,
      done: state.done + piece.rows.size,
      created: state.created + got.created,
      skipped: state.skipped + got.skipped,
      refused: [...state.refused, ...got.errors.map((error) => inFile(error, piece))],
    };
    onState(state);
  }
  return { ...state, refused: state.refused.toSorted((a, b) => a.line - b.line) };
}

async function send(piece: Piece, channel: string, signal: AbortSignal): Promise<Imported> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await callApi<Imported>('/links/import', {
        method: 'POST',
        body: { text: piece.text, channel },
      });
    } catch (error) {
      const pause = PAUSES[tries];
      if (pause === undefined || !isRetryable(error) || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/** A refusal by the file's own lines. */
function inFile({ line, column, message }: Imported['errors'][number], { rows }: Piece): Refusal {
  const row = rows.get(line) ?? [...rows.values()][0];
  return { line: row?.line ?? line, column, message, row: row?.text ?? '' };
}
