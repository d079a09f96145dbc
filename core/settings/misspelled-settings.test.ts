import { expect, test } from 'vitest';
import { misspelledSettings } from './misspelled-settings.ts';

test('a misspelled name of a setting is found, with the setting that it resembles', () => {
  const near = Object.fromEntries(
    misspelledSettings({
      API_PROT: '1',
      API_PRT: '1',
      API_PORTT: '1',
      APIPORT: '1',
      API_PORD: '1',
      data_dir: 'x',
      TRUST_PROXIES: '',
    }).map(({ name, near }) => [name, near]),
  );
  expect(near).toEqual({
    API_PROT: 'API_PORT',
    API_PRT: 'API_PORT',
    API_PORTT: 'API_PORT',
    APIPORT: 'API_PORT',
    API_PORD: 'API_PORT',
    data_dir: 'DATA_DIR',
  });
});

test('PORT, which other services listen on, is found until a port is set', () => {
  expect(misspelledSettings({ PORT: '8080' })).toEqual([{ name: 'PORT', near: 'API_PORT or INGEST_PORT' }]);
  for (const env of [{ PORT: '' }, { PORT: '8080', INGEST_PORT: '8080' }, { PORT: '1', API_PORT: '2' }]) {
    expect(misspelledSettings(env)).toEqual([]);
  }
});

test('settings and other variables of an environment are not reported', () => {
  const others = {
    PATH: '/bin',
    HOME: '/root',
    HOSTS: '',
    HTTP_PROXY: '',
    XDG_DATA_DIRS: '',
    NODE_ENV: '',
  };
  expect(misspelledSettings({ ...others, API_PORT: '1', DATA_DIR: 'x', HOST: '::' })).toEqual([]);
});
