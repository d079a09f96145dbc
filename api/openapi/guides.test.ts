import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { GUIDES, withParts } from './guides.ts';

test.each(GUIDES)('the derived parts of %s are those of the code', async (path) => {
  const guide = await readFile(path, 'utf8');
  expect(guide).toContain(': npm run types -->');
  expect(guide === withParts(guide), 'parts of the guide are stale: run `npm run types`').toBe(true);
});
