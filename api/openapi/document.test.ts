import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describe, expect } from 'vitest';
import { apiTest as test } from '../../test/support/fixtures.ts';
import type { Json } from './components.ts';
import { type Document, operationsOf, responseOf, schemasIn } from './test-support.ts';

/** Properties of both documents. */

const documents: Record<string, Document> = {};

test.beforeAll(async ({ api }) => {
  documents.public = (await api.app.inject('/api/v1/openapi.json')).json();
  documents.console = (await api.app.inject('/api/v1/console-openapi.json')).json();
});

const documentOf = (name: string): Document => {
  const document = documents[name];
  if (!document) throw new Error(`there is no document ${name}`);
  return document;
};

const FORMATS = ['uuid', 'date-time', 'date', 'email', 'uri', 'binary'];

describe.each(['public', 'console'])('the %s document', (name) => {
  test('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(documentOf(name)));
    expect(result.errors ?? []).toEqual([]);
    expect([result.valid, validator.version]).toEqual([true, '3.1']);
  });

  test('gives each operation an id, a summary, a tag, a request and examples', () => {
    const document = documentOf(name);
    const tags = document.tags.map((tag) => tag.name);
    const operations = operationsOf(document);
    for (const { operationId, summary, tags: own = [], requestBody, responses, ...rest } of operations) {
      expect([operationId, /^[a-z]\w+\.[a-z]\w+$/i.test(operationId)]).toEqual([operationId, true]);
      expect([operationId, summary]).toEqual([operationId, expect.stringMatching(/^[A-Z].{3,80}[^.]$/)]);
      expect([operationId, tags]).toEqual([operationId, expect.arrayContaining(own)]);
      expect([operationId, own.length]).toEqual([operationId, 1]);
      if (operationId.startsWith('events.')) continue;
      expect([operationId, rest['x-codeSamples']?.[0]?.source]).toEqual([
        operationId,
        expect.stringMatching(/^curl /),
      ]);
      for (const [status, response] of Object.entries(responses)) {
        const { content = {} } = responseOf(document, response);
        const media = Object.values(content);
        expect([operationId, status, media.length > 0]).toEqual([operationId, status, true]);
        for (const { example, examples } of media)
          expect([operationId, status, example !== undefined || examples !== undefined]).toEqual([
            operationId,
            status,
            true,
          ]);
      }
      for (const { example } of Object.values(requestBody?.content ?? {}))
        expect([operationId, example]).toEqual([operationId, expect.anything()]);
    }
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('has examples that are valid by their schemas', () => {
    const document = documentOf(name);
    // Each schema is used a few times, so optimizing its code takes longer than it saves.
    const options = { strict: false, allErrors: true, validateFormats: true, code: { optimize: false } };
    const ajv = new Ajv2020(options);
    ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    ajv.addFormat('date', /^\d{4}-\d\d-\d\d$/);
    ajv.addFormat('email', /^\S+@\S+$/);
    ajv.addFormat('uri', /^(https?|mailto):\S+$/);
    ajv.addSchema({ $id: 'document', components: document.components });
    const wrong: unknown[] = [];
    let checked = 0;
    /** Keyed by the text of the schema, because each operation has its own schema of an error. */
    const compiled = new Map<string, ValidateFunction>();
    const check = (where: string, schema: Json, value: unknown) => {
      const text = JSON.stringify(schema).replaceAll('"#/components', '"document#/components');
      const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
      compiled.set(text, validate);
      checked += 1;
      if (!validate(value))
        wrong.push([where, value, validate.errors?.map((one) => [one.instancePath, one.message])]);
    };
    for (const { operationId, parameters = [], requestBody, responses } of operationsOf(document)) {
      for (const one of parameters) {
        if (one.example !== undefined) check(`${operationId} ${one.name}`, one.schema, one.example);
      }
      const media = [
        ...Object.values(requestBody?.content ?? {}),
        ...Object.values(responses).flatMap((one) => Object.values(responseOf(document, one).content ?? {})),
      ];
      for (const { schema, example, examples = {} } of media) {
        if (example !== undefined) check(operationId, schema, example);
        for (const { value } of Object.values(examples)) check(operationId, schema, value);
      }
    }
    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(100);
  });

  test('repeats no object schema: each is a named type', () => {
    const inline = schemasIn(documentOf(name))
      .filter(([path, schema]) => !/^\/components\/schemas\/\w+$/.test(path) && 'properties' in schema)
      .map(([path, schema]) => ({ path, text: JSON.stringify(schema) }));
    const repeated = inline.filter(
      ({ text }, index) => inline.findIndex((one) => one.text === text) !== index,
    );
    expect(repeated.map(({ path }) => path)).toEqual([]);
    const inOperations = inline.filter(({ path }) => !path.startsWith('/components/schemas/'));
    expect(inOperations.map(({ path }) => path)).toEqual([]);
  });

  test('has no format that a client does not know, and closes no object', () => {
    const formats = schemasIn(documentOf(name)).flatMap(([path, { format }]) =>
      format === undefined || FORMATS.includes(String(format)) ? [] : [[path, format]],
    );
    expect(formats).toEqual([]);
    const text = JSON.stringify(documentOf(name));
    expect(text).not.toContain('"additionalProperties":false');
    expect(text).not.toContain('patternProperties');
  });

  test('is plain American English', () => {
    const text = JSON.stringify(documentOf(name)).replaceAll('x-ignored', '');
    const own = text.match(
      /programme|colour|normalis|\banew\b|by itself|whoever|nobody|is no [a-z]|\bwho has\b/gi,
    );
    expect(own ?? []).toEqual(['colour']); // an unknown field in the example of x-ignored-fields
  });
});
