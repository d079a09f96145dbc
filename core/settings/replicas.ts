import type { Environment } from './environment.ts';
import { parseUrl, serverUrl } from './server-urls.ts';
import { ConfigError } from './settings-error.ts';

/** A replica of ClickHouse, as the settings name it. */
export type ReplicaSettings = {
  name: string;
  /** URL with user and password; empty: embedded. */
  url: string;
};

/** A setting of one replica. `main` has `CLICKHOUSE_URL` and `CLICKHOUSE_PASSWORD` instead. */
export type ReplicaSetting = `CLICKHOUSE_${string}_${'URL' | 'USER' | 'PASSWORD'}`;
type ReplicaSecret = `CLICKHOUSE_${string}_${'URL' | 'PASSWORD'}`;
export type ReplicaSecretFile = `${ReplicaSecret}_FILE`;

/** The replica at `CLICKHOUSE_URL`. */
export const MAIN_REPLICA = 'main';
const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
const MOST = 8;
const NAMES = `must be up to ${MOST} different names of a-z, 0-9 and "-", with commas between, such as "main,second"`;

/**
 * Returns the settings of one replica: of `second` they are `CLICKHOUSE_SECOND_URL`, `CLICKHOUSE_SECOND_USER`, and
 * `CLICKHOUSE_SECOND_PASSWORD`, which `CLICKHOUSE_SECOND_PASSWORD_FILE` may hold.
 */
export function settingsOfReplica(name: string) {
  const prefix = `CLICKHOUSE_${name.toUpperCase().replaceAll('-', '_')}` as const;
  return { url: `${prefix}_URL`, user: `${prefix}_USER`, password: `${prefix}_PASSWORD` } as const;
}

/** Returns the secrets of the replicas besides `main` that this environment names, which may be in files. */
export function secretsOfReplicas(env: NodeJS.ProcessEnv): ReplicaSecret[] {
  return namesOf(env.CLICKHOUSE_REPLICAS || MAIN_REPLICA)
    .filter((name) => name !== MAIN_REPLICA && NAME.test(name))
    .map(settingsOfReplica)
    .flatMap(({ url, password }) => [url, password]);
}

/**
 * Returns the replicas that `CLICKHOUSE_REPLICAS` names, in this order. User and password are those of `main`, unless
 * the replica's URL or settings have others.
 *
 * @param env the values of all secrets
 * @param mainUrl the address of `main` with user and password
 * @throws {ConfigError} naming the first setting that can't be used
 */
export function replicaSettings(
  raw: Pick<Environment, 'CLICKHOUSE_REPLICAS'>,
  env: NodeJS.ProcessEnv,
  mainUrl: string,
): ReplicaSettings[] {
  const text = raw.CLICKHOUSE_REPLICAS;
  const names = namesOf(text);
  const isList = names.every((name) => NAME.test(name)) && new Set(names).size === names.length;
  if (!isList || names.length > MOST) throw new ConfigError('CLICKHOUSE_REPLICAS', text, NAMES);
  if (mainUrl === '' && text !== MAIN_REPLICA)
    throw new ConfigError('CLICKHOUSE_REPLICAS', text, 'must be "main" while CLICKHOUSE_URL is empty');
  return names.map((name) => ({
    name,
    url: name === MAIN_REPLICA ? mainUrl : urlOf(settingsOfReplica(name), env, mainUrl),
  }));
}

function urlOf(
  settings: ReturnType<typeof settingsOfReplica>,
  env: NodeJS.ProcessEnv,
  mainUrl: string,
): string {
  const { url: setting } = settings;
  const text = env[setting] ?? '';
  if (text === '') throw new ConfigError(setting, '', 'must be set for this replica of CLICKHOUSE_REPLICAS');
  if (text.includes(','))
    throw new ConfigError(setting, text, 'must be one address: several shards are not supported yet');
  const url = parseUrl(setting, serverUrl(setting, text, ['http:', 'https:']));
  const main = new URL(mainUrl);
  for (const [part, name] of [
    ['username', settings.user],
    ['password', settings.password],
  ] as const) {
    const own = env[name] ?? '';
    if (own !== '' && url[part] !== '')
      throw new ConfigError(name, own, `must be empty while ${setting} has a ${part}`);
    if (url[part] === '') url[part] = own === '' ? main[part] : encodeURIComponent(own);
  }
  return url.href;
}

const namesOf = (text: string): string[] => text.split(',').map((name) => name.trim());
