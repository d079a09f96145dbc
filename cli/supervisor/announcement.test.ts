import { expect, test } from 'vitest';
import { readConfig } from '../../core/settings/config.ts';
import { readyLine, readyText } from './announcement.ts';

const config = readConfig({});
const demo = {
  workspace: 'demo',
  workspace_id: '019a0000-0000-7000-8000-00000000000a',
  secret_key: 'lk_live_secret',
  publishable_key: 'pk_live_publishable',
  console_url: 'http://127.0.0.1:3000/console/welcome#once',
};
const started = { config, demo, onShown: () => undefined };

test('a program gets the keys in the ready line, a person each on a line of its own', () => {
  expect(JSON.parse(readyLine(started))).toMatchObject({ event: 'ready', demo });
  const shown = JSON.parse(readyLine(started, false)) as object;
  expect(shown).toMatchObject({ event: 'ready', short_url: config.shortUrl });
  expect(JSON.stringify(shown)).not.toMatch(/live_|once/);
  for (const key of [demo.secret_key, demo.publishable_key, demo.console_url]) {
    const [line = '', ...others] = readyText(started, 1)
      .split('\n')
      .filter((one) => one.includes(key));
    expect([others, line.length < 100]).toEqual([[], true]);
  }
});

test('a later start says how to get a key and a way into the console', () => {
  const text = readyText({ config, demo: null, onShown: () => undefined }, 1);
  expect(text).toContain('npx hoplog key create --workspace demo --kind secret');
  expect(text).toContain('npx hoplog console invite --workspace demo');
});
