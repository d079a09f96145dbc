import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { isUtf8 } from 'node:buffer';
import { requireAllowedOrigin } from '../../core/access/allowed-origins.ts';
import { keyMatches, parseKey } from '../../core/access/keys.ts';
import { refererHost } from '../../core/enrich/referer.ts';
import { errorEnvelope } from '../../core/error-envelope.ts';
import { AppError, badRequest, type ErrorCode, SUSPENDED } from '../../core/errors.ts';
import type { EventLogWriter } from '../../core/event-log/port.ts';
import { uuidToBytes, uuidv7 } from '../../core/ids.ts';
import { ignoredFieldsHeader } from '../../core/text/ignored-fields.ts';
import type { Logger } from '../../core/tier/log.ts';
import { readBody } from '../http/body.ts';
import type { ClientAddress } from '../http/client-address.ts';
import type { Exchange, Exchanges, Headers } from '../http/exchange.ts';
import { LookupUnavailable } from '../link-table/coalesced-queries.ts';
import type { Resolver } from '../link-table/resolver.ts';
import type { WorkspacePolicies } from '../link-table/workspace-policies.ts';
import type { IngestMetrics } from '../metrics.ts';
import { readBrowser } from '../redirect/visit.ts';
import type { KeyUses } from './key-uses.ts';
import type { Browser, RecordVisit } from './record-visit.ts';
import { badReport, ignoredFields, type ReportBody, ReportRefused, readReport } from './report.ts';
import type { ReportLog } from './report-log.ts';
import { readVisitReport } from './visit-report.ts';

/** Bytes of a body. */
const BODY_LIMIT = 16 * 1024;
const MEDIA_TYPES = new Set(['application/json', 'text/plain', '']);

/** For any origin, without credentials, as in the API. */
const CORS: Headers = [
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', 'x-request-id, Idempotent-Replayed, Retry-After, x-ignored-fields'],
];
const PREFLIGHT: Headers = [
  ...CORS,
  ['Access-Control-Allow-Methods', 'POST'],
  ['Access-Control-Allow-Headers', 'Authorization, Content-Type, Idempotency-Key'],
  ['Access-Control-Max-Age', '86400'],
];

const STATUS: Partial<Record<ErrorCode, string>> = {
  bad_request: '400 Bad Request',
  unauthorized: '401 Unauthorized',
  forbidden: '403 Forbidden',
  method_not_allowed: '405 Method Not Allowed',
  payload_too_large: '413 Payload Too Large',
  unsupported_media_type: '415 Unsupported Media Type',
  unavailable: '503 Service Unavailable',
};

/** The body of a response. `ignored`: unknown fields. */
type Collected = { ok: true; visitor_id?: string | null; ignored?: readonly string[] };

/** Names the ignored fields as the API does. */
function ignoredHeaders({ ignored = [] }: Collected): Headers {
  const header = ignoredFieldsHeader(ignored);
  return header === null ? [] : [['x-ignored-fields', header]];
}

type RouteHandler = (res: HttpResponse, req: HttpRequest) => void;

/**
 * Handles `POST /collect` of the pixel: responds 202 once the event is in the journal. The response to a visit has the
 * visitor id that the page is to store.
 */
export function createCollectHandlers(given: {
  /** Address of the help on errors. */
  errorPage: string;
  eventLog: EventLogWriter;
  exchanges: Exchanges;
  resolver: Resolver;
  policies: WorkspacePolicies;
  keyUses: KeyUses;
  reportLog: ReportLog;
  clientAddress: ClientAddress;
  recordVisit: RecordVisit;
  metrics: IngestMetrics;
  log: Logger;
}): { post: RouteHandler; preflight: RouteHandler; other: RouteHandler } {
  const { errorPage, eventLog, exchanges, resolver, policies, keyUses, reportLog } = given;
  const { clientAddress, recordVisit, metrics, log } = given;

  function send(
    exchange: Exchange,
    status: string,
    headers: Headers,
    requestId: string,
    body: unknown,
  ): void {
    metrics.countCollected(Number.parseInt(status, 10));
    exchanges.reply(
      exchange,
      status,
      [['Content-Type', 'application/json; charset=utf-8'], ['x-request-id', requestId], ...CORS, ...headers],
      JSON.stringify(body),
    );
  }

  function fail(exchange: Exchange, requestId: string, error: unknown): void {
    const answer = answerOf(error);
    const { code } = answer;
    if (code === 'internal')
      log.error({ err: error, request_id: requestId }, 'failed to collect an event; responded 500');
    const headers: [string, string][] = [];
    if (code === 'unavailable') headers.push(['Retry-After', '5']);
    if (code === 'method_not_allowed') headers.push(['Allow', 'POST, OPTIONS']);
    const body = errorEnvelope(answer, requestId, errorPage);
    send(exchange, STATUS[code] ?? '500 Internal Server Error', headers, requestId, body);
  }

  async function callerOf(
    body: ReportBody,
    origin: string,
  ): Promise<{ workspaceId: Uint8Array; keyId: string }> {
    const { key } = body;
    if (key === undefined || key === null)
      throw new AppError('unauthorized', 'key: a publishable key is required');
    if (typeof key !== 'string') throw badRequest('key', 'must be a string');
    const parsed = parseKey(key);
    if (parsed?.kind === 'secret') {
      throw badRequest('key', 'must be a publishable key; a secret key must never be in a browser');
    }
    const known = parsed?.kind === 'publishable' ? await resolver.key(parsed.lookup) : null;
    if (known === null || !keyMatches(key, known.hash))
      throw new AppError('unauthorized', 'key: not a valid key');
    const workspaceId = uuidToBytes(known.workspaceId);
    if (policies.isSuspended(workspaceId)) throw new AppError('forbidden', SUSPENDED);
    requireAllowedOrigin(origin, policies.allowedOriginsOf(workspaceId), []);
    return { workspaceId, keyId: known.id };
  }

  /** @returns the body of the response */
  async function collect(bytes: Buffer, browser: Browser, origin: string): Promise<Collected> {
    const body = parseBody(bytes);
    const { workspaceId, keyId } = await callerOf(body, origin);
    const isPage = /^https?:/.test(origin);
    if (body.type === 'visit') {
      const visitorId = await recordVisit(workspaceId, readVisitReport(body), browser);
      keyUses.note(keyId, { byPixel: isPage });
      return { ok: true, visitor_id: visitorId };
    }
    try {
      const isRecorded = await collectReport(body, workspaceId);
      // A script in a page says its origin, other callers do not.
      keyUses.note(keyId, { byPixel: isPage && isRecorded });
    } catch (error) {
      keyUses.note(keyId, { byPixel: false });
      throw error;
    }
    const ignored = ignoredFields(body);
    return { ok: true, ...(ignored.length > 0 && { ignored }) };
  }

  /** @returns whether it was an event, and no test of the installation */
  async function collectReport(body: ReportBody, workspaceId: Uint8Array): Promise<boolean> {
    try {
      const { event, corrected } = readReport(body, workspaceId);
      if (event !== null) {
        const outcome = await new Promise((resolve) => eventLog.append(event, resolve));
        if (outcome === 'lost') throw new AppError('unavailable', 'the journal is full; try again');
      }
      const outcome = corrected.length === 0 ? 'recorded' : 'corrected';
      reportLog.note({ workspaceId, body, event, outcome, problems: corrected });
      return event !== null;
    } catch (error) {
      if (!(error instanceof ReportRefused)) throw error;
      reportLog.note({
        workspaceId,
        body,
        event: null,
        outcome: 'refused',
        problems: [...error.all.map(({ found }) => found), ...error.corrected],
      });
      throw badReport(error);
    }
  }

  return {
    post(res, req) {
      const mediaType = req.getHeader('content-type').split(';', 1)[0]?.trim().toLowerCase() ?? '';
      const exchange = exchanges.open(res, false);
      const requestId = uuidv7();
      // Before the body: the request is gone when its handler has returned.
      const origin = req.getHeader('origin');
      const browser = { ...readBrowser(req, res, clientAddress), host: refererHost(origin) };
      readBody(res, BODY_LIMIT, (bytes) => {
        if (bytes === null) {
          return fail(exchange, requestId, new AppError('payload_too_large', `at most ${BODY_LIMIT} bytes`));
        }
        if (!MEDIA_TYPES.has(mediaType)) {
          const message = 'send JSON as application/json or text/plain';
          return fail(exchange, requestId, new AppError('unsupported_media_type', message));
        }
        collect(bytes, browser, origin).then(
          (answer) => send(exchange, '202 Accepted', ignoredHeaders(answer), requestId, answer),
          (error: unknown) => fail(exchange, requestId, error),
        );
      });
    },
    preflight(res) {
      exchanges.reply(exchanges.open(res, true), '204 No Content', PREFLIGHT);
    },
    other(res, req) {
      const exchange = exchanges.open(res, req.getMethod() === 'head');
      fail(exchange, uuidv7(), new AppError('method_not_allowed', 'send a POST'));
    },
  };
}

function parseBody(bytes: Buffer): ReportBody {
  // Invalid bytes would all decode to U+FFFD, and different order ids would become one.
  if (!isUtf8(bytes)) throw badRequest('body', 'must be UTF-8');
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw badRequest('body', 'must be JSON');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badRequest('body', 'must be a JSON object');
  }
  return body as ReportBody;
}

function answerOf(error: unknown): Pick<AppError, 'code' | 'message' | 'details'> {
  if (error instanceof AppError) return error;
  if (error instanceof LookupUnavailable) {
    return {
      code: 'unavailable',
      message: 'the key can’t be checked right now; try again',
      details: undefined,
    };
  }
  return { code: 'internal', message: 'something went wrong', details: undefined };
}
