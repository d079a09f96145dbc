import type { paths } from './openapi.ts';

/** A path below `/api/v1`, as the OpenAPI documents name it: `/links/{id}`. */
type ApiPath = keyof paths extends infer Path
  ? Path extends `/api/v1${infer Below}`
    ? Below
    : never
  : never;

type JsonOf<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never;

/** The JSON body of a successful response: `ResponseOf<'/links/{id}'>`, `ResponseOf<'/links', 'post'>`. */
export type ResponseOf<
  Path extends ApiPath,
  Method extends keyof paths[`/api/v1${Path}`] = keyof paths[`/api/v1${Path}`] & 'get',
> = paths[`/api/v1${Path}`][Method] extends { responses: infer Responses }
  ? JsonOf<Responses[keyof Responses]>
  : never;
