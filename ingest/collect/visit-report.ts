import { badRequest } from '../../core/errors.ts';
import { isUuid, uuidToBytes } from '../../core/ids.ts';
import type { ReportBody } from './report.ts';

/** A page that was opened with a referrer's code in its address, as the pixel reports it. */
export type VisitReport = {
  /** Name of the query parameter. */
  parameter: string;
  code: string;
  /** The newest id that the page has for the visitor; null: none. */
  visitorId: Uint8Array | null;
  /** URL of the page before; empty: none, or one of the same site. */
  referrer: string;
  /** The page's UTM parameters, as in its address. */
  utm: URLSearchParams;
};

/** Longest query string of UTM parameters, in UTF-16 code units. */
const UTM_LIMIT = 2_048;

/** @throws {AppError} `bad_request` that names the field */
export function readVisitReport(body: ReportBody): VisitReport {
  const { visitor_id: visitor, referrer, utm } = body;
  return {
    parameter: textOf(body, 'parameter', 40),
    code: textOf(body, 'code', 200),
    visitorId: typeof visitor === 'string' && isUuid(visitor) ? uuidToBytes(visitor) : null,
    referrer: typeof referrer === 'string' ? referrer : '',
    utm: new URLSearchParams(typeof utm === 'string' ? utm.slice(0, UTM_LIMIT) : ''),
  };
}

function textOf(body: ReportBody, field: string, limit: number): string {
  const value = body[field];
  const text = typeof value === 'string' ? value.trim() : '';
  if (text === '' || text.length > limit || text.includes('\0') || !text.isWellFormed()) {
    throw badRequest(field, `must be text of 1 to ${limit} characters`);
  }
  return text;
}
