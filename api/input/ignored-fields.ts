import type { Api } from '../dependencies.ts';
import { type FieldSchema, unknownFields } from './body-fields.ts';

/** Maximum names in the header. */
const MOST = 20;
/** Maximum characters of one name. */
const LONGEST = 200;

/**
 * Lists unknown body fields in the header `x-ignored-fields`. Validation drops them, and a misspelled field would
 * go unnoticed. Register it after bodies are parsed and before they are validated.
 */
export function addIgnoredFields(app: Api): void {
  app.addHook('preValidation', async (request, reply) => {
    const schema = request.routeOptions.schema?.body as FieldSchema | undefined;
    if (schema === undefined) return;
    const ignored = unknownFields(schema, request.body).filter(({ isRefused }) => !isRefused);
    if (ignored.length === 0) return;
    const names = ignored.slice(0, MOST).map(({ path }) => headerText(path.join('.')));
    reply.header('x-ignored-fields', names.join(', '));
  });
}

/** Encodes a field's name: it may hold commas and line breaks. */
const headerText = (name: string): string => encodeURIComponent(name).slice(0, LONGEST);
