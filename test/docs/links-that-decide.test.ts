import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect } from 'vitest';
import type { LinkRecord } from '../../api/links/schemas.ts';
import { sharedShopTest as test } from '../support/fixtures.ts';
import { plainPng, scannedText } from '../support/scanned-images.ts';
import { blocksOf, readDocument } from './markdown.ts';

const GUIDE = readDocument('docs/links.md');

let dir: string;
let env: Record<string, string>;
const made: LinkRecord[] = [];

test.beforeAll(async ({ api, shop }) => {
  dir = mkdtempSync(join(tmpdir(), 'hoplog-guide-'));
  const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
  env = { PATH: process.env.PATH ?? '', KEY: shop.secretKey, BASE_URL: url };
});
afterAll(async () => {
  if (dir) rmSync(dir, { recursive: true, force: true });
});

test('every link that docs/links.md shows can be created', async ({ shop }) => {
  const bodies = blocksOf(GUIDE, 'json');
  expect(bodies).toHaveLength(3);
  for (const body of bodies) {
    const {
      status,
      body: answer,
      text,
    } = await shop.post<{ links: LinkRecord[] }>('/links', JSON.parse(body));
    expect([status, text]).toEqual([201, text]);
    made.push(...answer.links);
  }
});

const execFileOf = promisify(execFile);

/** Runs a block in a shell, as a reader does. */
async function run(block: string, link: LinkRecord | undefined): Promise<string> {
  const settings = { cwd: dir, env: { ...env, LINK: link?.id ?? '' }, encoding: 'utf8' } as const;
  // Not synchronous: the API runs in this process.
  const { stdout } = await execFileOf('bash', ['-ec', block.replaceAll('curl ', 'curl -fsS ')], settings);
  return stdout;
}

test('the shell blocks of docs/links.md do what it says', async () => {
  const [results = '', code = '', comments = '', ...others] = blocksOf(GUIDE, 'sh');
  expect(others).toEqual([]);
  const split = made.find((link) => link.split !== null);
  const answer = JSON.parse(await run(results, split)) as { totals: object };
  expect(answer.totals).toMatchObject({ clicks: 0, conversion_rate: null });
  writeFileSync(join(dir, 'logo.png'), plainPng(64, 64, [200, 0, 0, 255]));
  await run(code, split);
  expect(scannedText(readFileSync(join(dir, 'code.png')))).toBe(`${split?.short_url}?qr=1`);
  const [, list = ''] = (await run(comments, split)).split(/(?=\{"comments")/);
  expect(JSON.parse(list)).toMatchObject({
    comments: [{ text: 'Printed on 500 flyers.', link_id: split?.id }],
  });
});
