import { badRequest } from '../../core/errors.ts';
import { isUuid, uuidToBytes } from '../../core/ids.ts';
import { unstorableText } from '../../core/text/storable.ts';
import type { ReportBody } from './report.ts';

/** A page that was opened with a referrer's code in its address, as the pixel reports it. */
export type VisitReport = {
  /** Name of the query parameter. */
  parameter: string;
  code: string;
  /** The newest id that the page has for the visitor; null: none. */
  visitorId: Uint8Array | null;
  /** URL of the page before; empty: none. */
  referrer: string;
};

/** Longest code, in UTF-16 code units, and longest `name=value` before it is decoded. */
const CODE_LIMIT = 200;
const SENT_LIMIT = 1_000;

/**
 * Reads a report whose `code` is a parameter as the page's address has it: `via=anna`.
 *
 * @throws {AppError} `bad_request` that names the field
 */
export function readVisitReport(body: ReportBody): VisitReport {
  const { code: sent, referrer } = body;
  const visitor = body.visitor_id ?? body._vid;
  const pair = typeof sent === 'string' && sent.length <= SENT_LIMIT ? sent : '';
  const [parameter = '', value = ''] = [...new URLSearchParams(pair)][0] ?? [];
  const code = value.trim();
  const isText = code.length <= CODE_LIMIT && unstorableText(code) === null;
  if (parameter === '' || code === '' || !isText) {
    throw badRequest('code', `must be a query parameter whose value has 1 to ${CODE_LIMIT} characters`);
  }
  return {
    parameter,
    code,
    visitorId: typeof visitor === 'string' && isUuid(visitor) ? uuidToBytes(visitor) : null,
    referrer: typeof referrer === 'string' ? referrer : '',
  };
}
