import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url));

test('the installed binaries of uWebSockets.js are those that NOTICE records', () => {
  const notice = read('NOTICE').toString('utf8');
  const recorded = [...notice.matchAll(/^(uws_\w+\.node) ([0-9a-f]{64})$/gm)];
  expect(recorded).toHaveLength(3);
  for (const [, file = '', hash] of recorded) {
    const installed = createHash('sha256').update(read(`node_modules/uWebSockets.js/dist/bin/${file}`));
    expect([file, installed.digest('hex')]).toEqual([file, hash]);
  }
  const { version } = JSON.parse(read('node_modules/uWebSockets.js/package.json').toString('utf8'));
  expect(notice).toContain(`uws-pack ${version},`);
  expect(read('LICENSE').toString('utf8')).toContain('Apache License');
});
