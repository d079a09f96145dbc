import { createClient } from '@hey-api/openapi-ts';

const [, , input = '', path = ''] = process.argv;

/** Writes the TypeScript client of the document at the first argument into the folder of the second. */
await createClient({
  input,
  output: { path, clean: true },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  logs: { level: 'silent' },
});
