import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const GIVEN = {
  OIDC_ISSUER: 'https://login.shop.example/realms/main',
  OIDC_CLIENT_ID: 'hoplog',
  OIDC_CLIENT_SECRET: 'secret',
  OIDC_ALLOWED_DOMAINS: 'Shop.example, mail.example',
};

test('without an issuer there is no provider', () => {
  expect(readConfig({}).oidc).toBeNull();
  expect(readConfig({ OIDC_CLIENT_ID: 'hoplog', OIDC_GROUP_ROLES: 'nothing' }).oidc).toBeNull();
});

test('an issuer has defaults for its name, scopes and the claim of groups', () => {
  expect(readConfig(GIVEN).oidc).toEqual({
    issuer: 'https://login.shop.example/realms/main',
    clientId: 'hoplog',
    clientSecret: 'secret',
    name: 'login.shop.example',
    scopes: 'openid email profile',
    allowedDomains: ['shop.example', 'mail.example'],
    workspace: '',
    trustsEmail: false,
    groupsClaim: 'groups',
    groupRoles: new Map(),
  });
});

test('groups give roles, and their names may have colons', () => {
  const { oidc } = readConfig({ ...GIVEN, OIDC_GROUP_ROLES: 'admins:owner, urn:team:east:analyst' });
  expect(oidc?.groupRoles).toEqual(
    new Map([
      ['admins', 'owner'],
      ['urn:team:east', 'analyst'],
    ]),
  );
});

test.each([
  ['OIDC_ISSUER', 'http://login.shop.example'],
  ['OIDC_ISSUER', 'login.shop.example'],
  ['OIDC_ISSUER', 'https://login.shop.example?tenant=1'],
  ['OIDC_CLIENT_ID', ''],
  ['OIDC_ALLOWED_DOMAINS', ''],
  ['OIDC_ALLOWED_DOMAINS', 'ann@shop.example'],
  ['OIDC_ALLOWED_DOMAINS', '*'],
  ['OIDC_GROUP_ROLES', 'admins'],
  ['OIDC_GROUP_ROLES', 'admins:member'],
  ['OIDC_GROUP_ROLES', ':owner'],
])('%s=%j is refused by its name', (name, value) => {
  expect(() => readConfig({ ...GIVEN, [name]: value })).toThrow(`setting ${name}`);
});

test('an issuer on this machine may use http', () => {
  expect(readConfig({ ...GIVEN, OIDC_ISSUER: 'http://127.0.0.1:4000' }).oidc?.issuer).toBe(
    'http://127.0.0.1:4000',
  );
});
