import { badRequest } from '../core/errors.ts';
import { OneOf } from './schemas.ts';

/** Begins a UTF-8 text for spreadsheets, which read one without it as Latin-1. */
export const BYTE_ORDER_MARK = '\uFEFF';

/** Whether a CSV begins with {@link BYTE_ORDER_MARK}. */
export const Bom = {
  ...OneOf(['0', '1'], {
    description: '`1`: CSV begins with a byte order mark, as Excel needs for letters beyond ASCII.',
  }),
  default: '0',
};

/** @throws {AppError} `bad_request` for a byte order mark in another format than CSV */
export function requireBomOfCsv({ bom, format }: { bom: string; format: string }): void {
  if (bom === '1' && format !== 'csv') throw badRequest('bom', 'must be 0 unless `format` is csv');
}
