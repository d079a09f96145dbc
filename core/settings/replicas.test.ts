import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { replicaSettings } from './replicas.ts';
import { readSecretFiles, withSecretValues } from './secret-files.ts';

const MAIN_URL = 'http://hoplog:m%40in@a:8123';

function replicas(names: string, env: Record<string, string> = {}, mainUrl = MAIN_URL) {
  return replicaSettings({ CLICKHOUSE_REPLICAS: names }, env, mainUrl);
}

test('main is the ClickHouse of CLICKHOUSE_URL, also the embedded one', () => {
  expect(replicas('main')).toEqual([{ name: 'main', url: MAIN_URL }]);
  expect(replicas('main', {}, '')).toEqual([{ name: 'main', url: '' }]);
});

test('a replica has the user and the password of main, unless it has others', () => {
  const urlOf = (env: Record<string, string>) => replicas('eu-2,main', env)[0]?.url;
  expect(urlOf({ CLICKHOUSE_EU_2_URL: 'https://b:8443' })).toBe('https://hoplog:m%40in@b:8443/');
  expect(urlOf({ CLICKHOUSE_EU_2_URL: 'http://other:p@b:8123/x' })).toBe('http://other:p@b:8123/x');
  expect(
    urlOf({ CLICKHOUSE_EU_2_URL: 'http://b', CLICKHOUSE_EU_2_USER: 'o@', CLICKHOUSE_EU_2_PASSWORD: '/:%' }),
  ).toBe('http://o%40:%2F%3A%25@b/');
  expect(replicas('eu-2,main', { CLICKHOUSE_EU_2_URL: 'http://b' }).map(({ name }) => name)).toEqual([
    'eu-2',
    'main',
  ]);
});

test.each<[string, Record<string, string>, string]>([
  ['main,', {}, 'CLICKHOUSE_REPLICAS="main,": must be up to 8 different names'],
  ['main,main', {}, 'CLICKHOUSE_REPLICAS="main,main": must be up to 8 different names'],
  ['main,B', {}, 'CLICKHOUSE_REPLICAS="main,B": must be up to 8 different names'],
  ['a,b,c,d,e,f,g,h,i', {}, 'CLICKHOUSE_REPLICAS="a,b,c,d,e,f,g,h,i": must be up to 8 different names'],
  ['main,b', {}, 'CLICKHOUSE_B_URL="": must be set for this replica'],
  [
    'main,b',
    { CLICKHOUSE_B_URL: 'http://b,http://c' },
    'CLICKHOUSE_B_URL: must be one address: several shards',
  ],
  ['main,b', { CLICKHOUSE_B_URL: 'tcp://u:hidden@b' }, 'CLICKHOUSE_B_URL: must start with http://'],
  ['main,b', { CLICKHOUSE_B_URL: 'b' }, 'CLICKHOUSE_B_URL: must be a URL'],
  [
    'main,b',
    { CLICKHOUSE_B_URL: 'http://u:p@b', CLICKHOUSE_B_PASSWORD: 'hidden' },
    'CLICKHOUSE_B_PASSWORD: must be empty while CLICKHOUSE_B_URL has a password',
  ],
  [
    'main,b',
    { CLICKHOUSE_B_URL: 'http://u@b', CLICKHOUSE_B_USER: 'v' },
    'CLICKHOUSE_B_USER="v": must be empty while CLICKHOUSE_B_URL has a username',
  ],
])('the replicas %s with %o are refused', (names, env, message) => {
  const error = catching(() => replicas(names, env));
  expect(error.message).toContain(`setting ${message}`);
  expect(error.message).not.toContain('hidden');
});

test('the embedded ClickHouse is the only replica', () => {
  expect(() => replicas('main,b', { CLICKHOUSE_B_URL: 'http://b' }, '')).toThrow(
    'must be "main" while CLICKHOUSE_URL is empty',
  );
});

test('the URL and the password of a replica may be files', () => {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-replicas-'));
  const file = (name: string, text: string) => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const env = {
    CLICKHOUSE_REPLICAS: 'main,b',
    CLICKHOUSE_B_URL_FILE: file('url', 'http://u@b\n'),
    CLICKHOUSE_B_PASSWORD_FILE: file('password', 'p w\n'),
  };
  try {
    expect(replicas('main,b', readSecretFiles(env) as Record<string, string>)[1]?.url).toBe(
      'http://u:p%20w@b/',
    );
    expect(withSecretValues(env)).toEqual({
      CLICKHOUSE_REPLICAS: 'main,b',
      CLICKHOUSE_B_URL: 'http://u@b',
      CLICKHOUSE_B_PASSWORD: 'p w',
    });
    expect(() => readSecretFiles({ ...env, CLICKHOUSE_B_PASSWORD: 'x' })).toThrow(
      'must be empty while CLICKHOUSE_B_PASSWORD is set',
    );
    expect(readSecretFiles({ CLICKHOUSE_B_URL_FILE: '/nowhere' })).toEqual({
      CLICKHOUSE_B_URL_FILE: '/nowhere',
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
});

function catching(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('did not throw');
}
