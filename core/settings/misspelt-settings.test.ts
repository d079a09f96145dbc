import { expect, test } from 'vitest';
import { misspeltSettings } from './misspelt-settings.ts';

test('a typing error in the name of a setting is found, with the setting that it is near to', () => {
  const near = Object.fromEntries(
    misspeltSettings({
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

test('settings and what else an environment holds are no typing errors', () => {
  const others = {
    PATH: '/bin',
    HOME: '/root',
    HOSTS: '',
    PORT: '1',
    HTTP_PROXY: '',
    XDG_DATA_DIRS: '',
    NODE_ENV: '',
  };
  expect(misspeltSettings({ ...others, API_PORT: '1', DATA_DIR: 'x', HOST: '::' })).toEqual([]);
});
