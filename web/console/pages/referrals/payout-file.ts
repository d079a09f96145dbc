import { fetchAnswer } from '../../api/call.ts';
import { ApiFailure } from '../../api/failures.ts';
import { saveFile } from '../links/save-file.ts';

/**
 * Creates and downloads a payout file.
 *
 * @param program null: all programs
 * @returns the file's ID, to mark it as paid
 * @throws {ApiFailure}
 */
export async function downloadPayoutFile(program: string | null): Promise<string> {
  const answer = await fetchAnswer('/payouts/export', { query: { program_id: program } });
  const exportId = answer.headers.get('x-export-id');
  if (exportId === null) {
    throw new ApiFailure(answer.status, { code: 'unknown', message: 'the file came without its id' });
  }
  saveFile(`payouts-${exportId}.csv`, await answer.blob());
  return exportId;
}
