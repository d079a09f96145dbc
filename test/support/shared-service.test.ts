import { expect, test } from 'vitest';
import { servedWorkspace } from './shared-service.ts';

test('files that ask for a service at the same time get one, and a workspace each', async () => {
  const files = await Promise.all([servedWorkspace(), servedWorkspace()]);
  const countOf = (found: unknown[]) => new Set(found).size;
  expect(countOf(files.map(({ pid }) => pid))).toBe(1);
  expect(countOf(files.map(({ slug }) => slug))).toBe(2);
  const ids = files.map(async ({ service }) => {
    const headers = { authorization: `Bearer ${service.demo.secret_key}` };
    const response = await fetch(`${service.api_url}/me`, { headers });
    return ((await response.json()) as { workspace: { id: string } }).workspace.id;
  });
  expect(await Promise.all(ids)).toEqual(files.map(({ service }) => service.demo.workspace_id));
  for (const file of files) await file.close();
});
