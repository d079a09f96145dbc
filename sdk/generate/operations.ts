import type { Document, OperationObject, Schema } from './document.ts';

/** Response of an operation: JSON, or anything else, which the caller reads. */
type Result = 'json' | 'response';

/** A list: its rows are in a field of each page, and a query parameter takes the cursor of the next one. */
export type ListShape = { rows: string; cursor: 'cursor' | 'before' | null };

/** An operation of the API, as both generators need it. */
export type Operation = {
  /** `links.create` */
  id: string;
  group: string;
  name: string;
  method: string;
  /** Below `/api/v1`, with its parameters in braces. */
  path: string;
  words: string;
  pathParameters: string[];
  query: 'required' | 'optional' | null;
  body: 'json' | 'text' | 'bytes' | null;
  /** Takes an `Idempotency-Key`. */
  idempotent: boolean;
  /** May be sent again where its response was lost. */
  repeatable: boolean;
  result: Result;
  list: ListShape | null;
  /** The operation of the document whose types it has, and its response if that has several. */
  types: { id: string; page?: string; without: readonly string[] };
  /** Query parameters that are always sent. */
  fixed: Record<string, string>;
};

const PREFIX = '/api/v1';
const REPEATABLE_METHODS = ['GET', 'PATCH', 'DELETE'];

/** `POST` operations that read, or whose second call changes nothing. */
const REPEATABLE_POSTS = [
  'analytics.query',
  'assets.uploadPicture',
  'bioPages.preview',
  'bioPages.uploadPicture',
  'clicks.import',
  'domains.verify',
  'track.identify',
  'track.order',
];

/** Parameters of `GET /links` that belong to one of its two responses. */
const PERFORMANCE = ['days', 'from', 'to', 'include'];
const RECORDS = ['view', 'cursor', 'channel', 'domain', 'destination_id', 'slug', 'external_id'];

/** Returns the operations of the API in the order of the document. */
export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, object]) => {
      const operation = operationOf(document, path, method.toUpperCase(), object);
      return operation.id === 'links.list' ? bothViews(operation) : [operation];
    }),
  );
}

/** `GET /links` has two responses: a list of records, and a report. */
function bothViews(operation: Operation): Operation[] {
  return [
    {
      ...operation,
      words: 'Lists link records, newest first. Another method lists their clicks and revenue.',
      list: { rows: 'links', cursor: 'cursor' },
      types: { ...operation.types, page: 'LinkRecordsPage', without: [...PERFORMANCE, 'view'] },
      fixed: { view: 'records' },
    },
    {
      ...operation,
      id: 'links.listPerformance',
      name: 'listPerformance',
      words: 'Lists clicks, visitors, conversions, and revenue of links in a window, most revenue first.',
      list: { rows: 'links', cursor: null },
      types: { ...operation.types, page: 'LinkPerformance', without: RECORDS },
    },
  ];
}

function operationOf(
  document: Document,
  path: string,
  method: string,
  { operationId: id, summary, description, parameters = [], requestBody, responses }: OperationObject,
): Operation {
  const [group = '', name = ''] = id.split('.');
  const status = Object.keys(responses).find((code) => code.startsWith('2')) ?? '';
  const types = Object.keys(responses[status]?.content ?? {});
  const isJson = types.includes('application/json');
  const query = parameters.filter((one) => one.in === 'query');
  const isRequired = query.some(({ required }) => required);
  const list =
    method === 'GET' && /^list/.test(name) && isJson
      ? listOf(document, query, responses[status]?.content)
      : null;
  return {
    id,
    group,
    name,
    method,
    path: path.replace(PREFIX, ''),
    words: [summary, description].filter(Boolean).join('\n\n'),
    pathParameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter),
    query: query.length === 0 ? null : isRequired ? 'required' : 'optional',
    body: bodyOf(requestBody),
    idempotent: parameters.some((one) => one.in === 'header' && one.name === 'Idempotency-Key'),
    repeatable: REPEATABLE_METHODS.includes(method) || REPEATABLE_POSTS.includes(id),
    result: isJson ? 'json' : 'response',
    list,
    // An iterator reads JSON only, not the other formats of a list.
    types: { id, without: list !== null && types.length > 1 ? ['format'] : [] },
    fixed: {},
  };
}

function bodyOf(requestBody: OperationObject['requestBody']): Operation['body'] {
  if (requestBody === undefined) return null;
  if (requestBody.content['application/json'] !== undefined) return 'json';
  const isBytes = Object.values(requestBody.content).some(({ schema }) => schema?.format === 'binary');
  return isBytes ? 'bytes' : 'text';
}

/** Returns where the rows of a list are. Null where a response has several arrays, or none. */
function listOf(
  document: Document,
  query: readonly { name: string }[],
  content: Record<string, { schema?: Schema }> = {},
): ListShape | null {
  const schema = resolved(document, content['application/json']?.schema ?? {});
  const arrays = Object.entries(schema.properties ?? {}).filter(([, part]) => part.type === 'array');
  const [rows] = arrays[0] ?? [];
  if (rows === undefined || arrays.length > 1) return null;
  const takes = (name: string) => query.some((one) => one.name === name);
  const hasPages = 'next_cursor' in (schema.properties ?? {});
  return { rows, cursor: !hasPages ? null : takes('cursor') ? 'cursor' : takes('before') ? 'before' : null };
}

/** Follows a reference into the document's components. */
function resolved(document: Document, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  return document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {};
}
