import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type OpenApiDocument, TYPES_FILE, typesOf } from './api-types.ts';

const PRINT = fileURLToPath(new URL('../../api/print-openapi.ts', import.meta.url));

test("the console's types are those of the API's OpenAPI documents", async () => {
  const printed = execFileSync(process.execPath, [PRINT], { encoding: 'utf8', maxBuffer: 100_000_000 });
  const types = await typesOf(JSON.parse(printed) as OpenApiDocument[]);
  expect(types.length).toBeGreaterThan(50_000);
  expect((await readFile(TYPES_FILE, 'utf8')) === types, 'types are stale: run `npm run types`').toBe(true);
});

test('texts and error responses change no type, and a property that is called like one stays', async () => {
  const document = (words: string): OpenApiDocument => ({
    paths: {
      '/api/v1/webhooks': {
        get: {
          operationId: 'listWebhooks',
          summary: words,
          responses: {
            200: {
              description: words,
              content: {
                'application/json': {
                  schema: {
                    type: 'object',
                    description: words,
                    required: ['description'],
                    properties: { description: { type: 'string', description: words } },
                  },
                },
              },
            },
            404: { description: words },
          },
        },
      },
    },
  });
  const types = await typesOf([document('before')]);
  expect(types).toContain('description: string');
  expect(types).not.toContain('before');
  expect(types).not.toContain('404');
  expect(await typesOf([document('after')])).toBe(types);
});
