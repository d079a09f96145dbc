import Ajv from 'ajv';
import type { Document, Media } from '../../api/openapi/test-support.ts';
import { isUuid } from '../../core/ids.ts';
import { parseInstant } from '../../core/time/timestamps.ts';
import { isEmail } from '../../core/tracking/emails.ts';

/** A response as the API sent it. `text` is null for a stream, which is not read. */
export type Sent = { status: number; type: string; text: string | null };

/** Returns how a response of an operation differs from the document; null if it matches. */
export type DocumentCheck = (path: string, method: string, sent: Sent) => string | null;

const FORMATS = {
  uuid: isUuid,
  'uuid-cursor': isUuid,
  'date-time': (text: string) => parseInstant(text) !== null,
  'instant-cursor': (text: string) => parseInstant(text) !== null,
  date: /^\d{4}-\d\d-\d\d$/,
  uri: (text: string) => URL.canParse(text),
  email: isEmail,
  hostname: true,
  binary: true,
  int64: true,
} as const;

/** Returns a check of whether the document allows a body for an operation. */
export function createBodyCheck(
  document: Document,
): (path: string, method: string, body: unknown) => boolean {
  const ajv = new Ajv.Ajv({ strict: false, logger: false, formats: FORMATS });
  ajv.addSchema(document, 'document');
  return (path, method, body) => {
    const at = `/paths/${escaped(path)}/${method}/requestBody/content/${escaped('application/json')}/schema`;
    return ajv.compile({ $ref: `document#${at}` })(body) === true;
  };
}

/** Compares responses with the OpenAPI document: status, error code, content type, and the schema of a JSON body. */
export function createDocumentCheck(document: Document): DocumentCheck {
  // Each process of a test run compiles the schema, and optimizing it would take longer than it saves.
  const ajv = new Ajv.Ajv({ strict: false, logger: false, formats: FORMATS, code: { optimize: false } });
  ajv.addSchema(document, 'document');
  const compiled = new Map<string, Ajv.ValidateFunction>();

  function mediaOf(
    path: string,
    method: string,
    status: number,
  ): { at: string; content: Record<string, Media> } | null {
    const at = `/paths/${escaped(path)}/${method}/responses/${status}`;
    const response = document.paths[path]?.[method]?.responses[String(status)];
    if (response?.$ref === undefined) return response ? { at, content: response.content ?? {} } : null;
    const name = response.$ref.split('/').at(-1) ?? '';
    return {
      at: `/components/responses/${name}`,
      content: document.components.responses[name]?.content ?? {},
    };
  }

  return (path, method, { status, type, text }) => {
    const found = mediaOf(path, method, status);
    if (!found) return `status ${status} is not in the document`;
    const [media = ''] = type.split(';');
    if (!text && Object.keys(found.content).length === 0) return null;
    if (!(media in found.content)) return `type ${media} of ${status} is not in the document`;
    if (media !== 'application/json' || text === null) return null;
    const pointer = `document#${found.at}/content/${escaped(media)}/schema`;
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: pointer });
    compiled.set(pointer, validate);
    const body: unknown = JSON.parse(text);
    if (validate(body) !== true) {
      const [error] = validate.errors ?? [];
      return `${status}: ${error?.instancePath} ${error?.message}`;
    }
    if (status < 400) return null;
    const { code } = (body as { error: { code: string } }).error;
    return code in (found.content[media]?.examples ?? {})
      ? null
      : `code ${code} of ${status} is not in the document`;
  };
}

const escaped = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
