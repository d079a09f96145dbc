import { ERROR_STATUS, type ErrorCode } from '../../core/errors.ts';
import { ErrorBody } from '../error-schemas.ts';
import type { Components, Json } from './components.ts';
import { exampleOf } from './examples.ts';
import { headersOf } from './headers.ts';
import { ERROR_MESSAGES } from './operation-examples.ts';

/** The codes that an operation responds with under one status. */
export type ErrorCodes = readonly [ErrorCode, ...ErrorCode[]];

/** The errors of a document: each combination of codes is one of `components.responses`. */
export type ErrorResponses = {
  /** Returns references to the responses of an operation's errors, by status. */
  of(codes: readonly ErrorCode[]): Record<string, Json>;
  /** Returns `components.responses`, given `components.schemas`. */
  responses(schemas: Record<string, Json>): Record<string, Json>;
};

/** Collects the errors of a document. */
export function createErrorResponses({ form }: Components): ErrorResponses {
  const schema = form(ErrorBody);
  const known = new Map<string, ErrorCodes>();

  function reference(codes: ErrorCodes): Json {
    const name = codes.map(pascalCase).join('Or');
    known.set(name, codes);
    return { $ref: `#/components/responses/${name}` };
  }

  return {
    of(codes) {
      const byStatus = Map.groupBy(codes, (code) => ERROR_STATUS[code]);
      return Object.fromEntries(
        [...byStatus].map(([status, own]) => [status, reference(own as unknown as ErrorCodes)]),
      );
    },
    responses: (schemas) =>
      Object.fromEntries(
        [...known]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, codes]) => [name, responseOf(codes, schema, schemas)]),
      ),
  };
}

function responseOf(codes: ErrorCodes, schema: unknown, schemas: Record<string, Json>): Json {
  const { error } = exampleOf(schema, schemas) as { error: Json };
  const examples = codes.map((code) => [
    code,
    {
      value: { error: { ...error, code, message: ERROR_MESSAGES[code], doc_url: `${ERROR_PAGES}/${code}` } },
    },
  ]);
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: headersOf(String(ERROR_STATUS[codes[0]]), NO_SUCCESS),
    content: { 'application/json': { schema, examples: Object.fromEntries(examples) } },
  };
}

/** Origin of the examples' deployment. */
const ERROR_PAGES = 'https://hop.example/docs/errors';
const NO_SUCCESS = { idempotent: false, hasBody: false, headers: [] };

const pascalCase = (code: string): string =>
  code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
