import { firstHost, postgresHosts, withPostgresPassword } from '../databases/postgres-hosts.ts';
import type { EnvironmentName } from './config.ts';
import { ConfigError } from './settings-error.ts';

/** Returns the address of a server as given; empty: none. */
export function serverUrl(name: EnvironmentName, text: string, protocols: string[]): string {
  if (text === '') return '';
  if (!protocols.includes(parseUrl(name, text).protocol)) {
    throw new ConfigError(name, text, `must start with ${protocols.map((p) => `${p}//`).join(' or ')}`);
  }
  return text;
}

/** Returns the address of PostgreSQL, which may have several hosts, with the password of a setting of its own. */
export function postgresUrl(
  [name, text]: [EnvironmentName, string],
  password: [EnvironmentName, string],
): string {
  for (const url of text === '' ? [] : hostsOf(name, text))
    serverUrl(name, url, ['postgres:', 'postgresql:']);
  if (password[1] === '') return text;
  requirePasswordless([name, text === '' ? null : firstHost(text)], password);
  return withPostgresPassword(text, password[1]);
}

function hostsOf(name: EnvironmentName, text: string): readonly string[] {
  try {
    return postgresHosts(text).urls;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ConfigError(name, text, error.message);
  }
}

/** Returns another address of the role of `DATABASE_URL`, which has one `DATABASE_PASSWORD` everywhere. */
export function urlOfSameRole(
  name: 'DATABASE_DIRECT_URL' | 'DATABASE_READ_URL',
  text: string,
  password: string,
): string {
  const url = postgresUrl([name, text], ['DATABASE_PASSWORD', '']);
  if (url === '' || firstHost(url).password !== '') return url;
  return postgresUrl([name, url], ['DATABASE_PASSWORD', password]);
}

/** Returns the address of a replica: one host, since several hosts mean the primary among them. */
export function replicaUrl(text: string, password: string): string {
  const url = urlOfSameRole('DATABASE_READ_URL', text, password);
  if (url !== '' && postgresHosts(url).needsPrimary)
    throw new ConfigError(
      'DATABASE_READ_URL',
      text,
      'must have one host, and no target_session_attrs: a pool of replicas needs one name',
    );
  return url;
}

/** Returns the URL with the password of a setting of its own, which may have any characters. */
export function withPassword(
  [urlSetting, text]: [EnvironmentName, string],
  [setting, password]: [EnvironmentName, string],
): string {
  if (password === '') return text;
  const url = requirePasswordless([urlSetting, text === '' ? null : new URL(text)], [setting, password]);
  url.password = encodeURIComponent(password);
  return url.href;
}

/** Returns the URL that takes the password. */
function requirePasswordless(
  [urlSetting, url]: [EnvironmentName, URL | null],
  [setting, password]: [EnvironmentName, string],
): URL {
  if (url === null) throw new ConfigError(setting, password, `must be empty while ${urlSetting} is empty`);
  if (url.password !== '') {
    throw new ConfigError(setting, password, `must be empty while ${urlSetting} has a password`);
  }
  if (url.username === '') throw new ConfigError(setting, password, `needs a user name in ${urlSetting}`);
  return url;
}

/** @throws {ConfigError} naming the setting */
export function parseUrl(name: EnvironmentName, text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new ConfigError(name, text, 'must be a URL');
  }
}
