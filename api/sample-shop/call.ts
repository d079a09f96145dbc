/** A call of the API with a key of the sample shop. Paths are below `/api/v1`; a text is sent as CSV. */
export type SampleCall = <T = unknown>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object | string,
) => Promise<T>;

/** A request in a form that both ways of sending accept. */
export type SampleRequest = { method: string; url: string; headers: Record<string, string>; body?: string };
export type SampleResponse = { status: number; text: string };

/**
 * Returns the calls with a key.
 *
 * @param send sends a request, by HTTP or within the process
 * @throws Error where the API refuses a call
 */
export function sampleCalls(
  send: (request: SampleRequest) => Promise<SampleResponse>,
  token: string,
): SampleCall {
  return async <T>(method: string, path: string, body?: object | string) => {
    const response = await send({
      method,
      url: `/api/v1${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && {
          'content-type': typeof body === 'string' ? 'text/csv' : 'application/json',
        }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    if (response.status >= 400) {
      throw new Error(
        `${method} ${path} of the sample shop failed with ${response.status}: ${response.text}`,
      );
    }
    return (response.text.startsWith('{') ? JSON.parse(response.text) : response.text) as T;
  };
}
