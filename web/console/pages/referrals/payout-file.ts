import { fetchAnswer } from '../../api/call.ts';
import { ApiFailure } from '../../api/failures.ts';
import { saveFile } from '../../parts/save-file.ts';
import { notesOf } from './payout-notes.ts';
import type { PayoutFormat } from './words.ts';

/** What a payout file contains. */
export type PayoutFileOptions = {
  /** Null: all programs. */
  program: string | null;
  format: PayoutFormat;
  /** Null: all methods. */
  method: string | null;
  /** Only sales before this day, `YYYY-MM-DD`; null: all. */
  until: string | null;
};

/** A file with its ID, to mark it as paid, and sentences about what is not in it. */
export type SavedPayoutFile = { exportId: string; notes: string[] };

/**
 * Creates and downloads a payout file.
 *
 * @throws {ApiFailure}
 */
export async function downloadPayoutFile(options: PayoutFileOptions): Promise<SavedPayoutFile> {
  const { program, format, method, until } = options;
  const answer = await fetchAnswer('/payouts/export', {
    // Spreadsheets open the one, PayPal and Wise read the others.
    query: { program_id: program, format, until, ...(format === 'csv' && { method, bom: '1' }) },
  });
  const exportId = answer.headers.get('x-export-id');
  if (exportId === null) {
    throw new ApiFailure(answer.status, { code: 'unknown', message: 'the file came without its id' });
  }
  saveFile(`payouts-${exportId}.csv`, await answer.blob());
  return { exportId, notes: notesOf(answer.headers) };
}
