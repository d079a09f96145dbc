/** A field of a request that the API refused. */
export type ErrorDetail = { path: string; message: string };

type ErrorFields = {
  status: number;
  code: string;
  message: string;
  details?: readonly ErrorDetail[];
  requestId?: string | null;
  retryAfter?: number | null;
  docUrl?: string | null;
};

/** The error of every call that failed. */
export class HoplogError extends Error {
  override readonly name = 'HoplogError';
  /** HTTP status of the response. 0 without one: `code` is then `network` or `timeout`. */
  readonly status: number;
  /** `not_found`, `bad_request`, ... as the API reference lists them. */
  readonly code: string;
  /** The refused fields of a `bad_request`. */
  readonly details: readonly ErrorDetail[];
  /** Id of the request, which the logs of the service have too. */
  readonly requestId: string | null;
  /** Seconds after which the call may be repeated, if the API said so. */
  readonly retryAfter: number | null;
  /** Page of the documentation about this error. */
  readonly docUrl: string | null;

  constructor(fields: ErrorFields, options?: ErrorOptions) {
    super(fields.message, options);
    this.status = fields.status;
    this.code = fields.code;
    this.details = fields.details ?? [];
    this.requestId = fields.requestId ?? null;
    this.retryAfter = fields.retryAfter ?? null;
    this.docUrl = fields.docUrl ?? null;
  }
}

/** Longest part of a response that is not the API's: what is read of it, and what of its text is in a message. */
const READ = 4_000;
const SHOWN = 200;

/** Returns the error that a response is. */
export function errorOf(response: Response, text: string): HoplogError {
  const { status, headers } = response;
  const requestId = headers.get('x-request-id');
  const retryAfter = secondsOf(headers.get('retry-after'));
  const said = bodyOf(text);
  if (said === null) {
    const message = `HTTP ${status} is not a response of Hoplog: ${textOf(text)}`;
    return new HoplogError({ status, code: 'unexpected_response', message, requestId, retryAfter });
  }
  const { code, message, details, doc_url: docUrl } = said;
  return new HoplogError({
    status,
    code,
    message,
    details,
    docUrl,
    requestId: said.request_id ?? requestId,
    retryAfter,
  });
}

/** Returns the text of a page of a proxy, on one line. */
const textOf = (body: string): string =>
  body
    .slice(0, READ)
    .replace(/<(style|script)\b.*?<\/\1>|<[^<>]*>/gis, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, SHOWN);

type ErrorBody = {
  code: string;
  message: string;
  details?: ErrorDetail[];
  request_id?: string;
  doc_url?: string;
};

function bodyOf(text: string): ErrorBody | null {
  try {
    const { error } = JSON.parse(text) as { error?: ErrorBody };
    return typeof error?.code === 'string' && typeof error.message === 'string' ? error : null;
  } catch {
    return null;
  }
}

/** `Retry-After` is a number of seconds or a date. */
function secondsOf(text: string | null): number | null {
  if (text === null) return null;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null;
}
