import { expect } from 'vitest';
import type { LinkRecord } from '../../api/links/schemas.ts';
import type { TestWorkspace } from './api.ts';

/** The response of `POST /links`. */
export type CreatedLinks = { destination_id: string; links: LinkRecord[] };

/** Returns a valid create body with a test's changes; `undefined` removes a field. */
export const campaign = (more: object = {}) => ({
  destination_url: 'https://shop.example/sale',
  name: 'Sale',
  channel: 'facebook',
  ...more,
});

/** Creates links, which must succeed, and returns the first one separately. */
export async function createLink(
  workspace: TestWorkspace,
  body: object,
): Promise<CreatedLinks & { first: LinkRecord }> {
  const response = await workspace.post<CreatedLinks>('/links', body);
  expect([response.status, response.text]).toEqual([201, response.text]);
  const [first] = response.body.links;
  if (!first) throw new Error('no link was created');
  return { ...response.body, first };
}

/**
 * Sends a create that must be rejected.
 *
 * @param path the field that the response must name
 * @returns the error's code
 */
export async function refusedLink(
  workspace: TestWorkspace,
  body: object,
  status: number,
  path?: string,
): Promise<string> {
  const response = await workspace.post('/links', body);
  expect([response.status, response.text]).toEqual([status, response.text]);
  if (path) expect(response.body.error.details?.[0]?.path).toBe(path);
  return response.body.error.code;
}
