import type { ErrorDetail } from '../../core/errors.ts';
import type { Api, FastifyRequest } from '../dependencies.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export type CallOptions = { query?: Record<string, unknown>; body?: unknown };

/** Calls a route of the API with the caller's own key. @param path below `/api/v1` @throws {ApiRefusal} */
export type CallApi = <T>(method: Method, path: string, options?: CallOptions) => Promise<T>;

/** The API's refusal of a call that a tool made. */
export class ApiRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: readonly ErrorDetail[];

  constructor(status: number, error: { code?: string; message?: string; details?: ErrorDetail[] }) {
    super(error.message ?? `HTTP ${status}`);
    this.status = status;
    this.code = error.code ?? 'internal';
    this.details = error.details ?? [];
  }
}

/**
 * Returns what calls the API as the caller of a request. The calls pass through the whole API: key, scopes, plan,
 * limits, and the audit log, so a tool has no rights that its key does not have.
 */
export function callsOf(app: Api, request: FastifyRequest): CallApi {
  return async <T>(method: Method, path: string, { query, body }: CallOptions = {}) => {
    const { statusCode, body: text } = await app.inject({
      method,
      url: `/api/v1${path}`,
      query: queryOf(query),
      headers: { authorization: request.headers.authorization, 'user-agent': 'hoplog-mcp' },
      remoteAddress: request.ip,
      ...(body !== undefined && { payload: body as object }),
    });
    const sent = text === '' ? {} : (JSON.parse(text) as { error?: object });
    if (statusCode >= 400) throw new ApiRefusal(statusCode, sent.error ?? {});
    return sent as T;
  };
}

/** Leaves out what is not given. */
function queryOf(query: Record<string, unknown> = {}): Record<string, string> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
