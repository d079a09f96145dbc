import type { Logger } from '../tier/log.ts';
import { type Config, readConfig } from './config.ts';
import { MAIN_REPLICA, type ReplicaSettings, settingsOfReplica } from './replicas.ts';
import { fileSettingOf, type SecretSetting } from './secrets.ts';

/**
 * The address of a database or mail server whose password may change while the process runs. From some moment on, it
 * refuses the old password. The setting's file gets the new one shortly before or after that.
 */
export type Credentials = {
  /** The address with user and password, as last read. */
  url(): string;
  /**
   * Reads the setting again because the database has refused an address, at most once a second.
   *
   * @returns whether there is another address to try now
   */
  renew(refused: string): boolean;
  /** The setting that the password comes from, such as `DATABASE_PASSWORD_FILE`; null: not a setting. */
  setting: string | null;
};

/** A database's address, which may change. */
export type Address = string | Credentials;

/** Interval between two reads of the files, at least: refused requests come in thousands. Milliseconds. */
const READ_EVERY = 1_000;

/** Returns credentials; those of a plain URL never change. */
export function credentialsOf(address: Address): Credentials {
  if (typeof address !== 'string') return address;
  return { url: () => address, renew: () => false, setting: null };
}

/** Settings that `readConfig` reads each address from, the most specific first. */
const SOURCES = {
  databaseUrl: ['DATABASE_PASSWORD', 'DATABASE_URL'],
  databaseDirectUrl: ['DATABASE_PASSWORD', 'DATABASE_DIRECT_URL', 'DATABASE_URL'],
  databaseReadUrl: ['DATABASE_PASSWORD', 'DATABASE_READ_URL'],
  clickhouseUrl: ['CLICKHOUSE_PASSWORD', 'CLICKHOUSE_URL'],
  smtpUrl: ['SMTP_URL'],
} as const satisfies Partial<Record<keyof Config, readonly SecretSetting[]>>;

export type CredentialSource = keyof typeof SOURCES;

type Options = {
  log: Logger;
  /** Left out: that of the process. */
  env?: NodeJS.ProcessEnv;
};

/** Returns the credentials of a process for a database or mail server. They are read again from the files of its settings. */
export function openCredentials(
  source: CredentialSource,
  url: string,
  { log, env = process.env }: Options,
): Credentials {
  const setting = settingInUse(env, SOURCES[source]);
  const { current, renew } = createRereading({
    initial: url,
    setting,
    log,
    read: () => readConfig(env)[source],
  });
  return { url: current, renew, setting };
}

/** Returns the credentials for a replica of ClickHouse. They are read again from the files of its settings. */
export function openReplicaCredentials({ name, url }: ReplicaSettings, options: Options): Credentials {
  if (name === MAIN_REPLICA) return openCredentials('clickhouseUrl', url, options);
  const { log, env = process.env } = options;
  const own = settingsOfReplica(name);
  const setting = settingInUse(env, [own.password, own.url, ...SOURCES.clickhouseUrl]);
  const read = () => readConfig(env).clickhouseReplicas.find((replica) => replica.name === name)?.url ?? '';
  const { current, renew } = createRereading({ initial: url, setting, log, read });
  return { url: current, renew, setting };
}

/** Returns which of these settings has a value: the file of one, or the setting itself. */
function settingInUse(env: NodeJS.ProcessEnv, settings: readonly [string, ...string[]]): string {
  const names = settings.flatMap((name) => [fileSettingOf(name), name]);
  return names.find((name) => (env[name] ?? '') !== '') ?? settings[0];
}

type SaslLogin = NonNullable<Config['kafka']['sasl']>;

/**
 * Returns the login for Kafka, whose password is read again at each authentication, at most once a second. The client
 * reads it when it connects, and a broker closes a connection that it refuses.
 */
export function openSaslLogin(login: SaslLogin, { log }: { log: Logger }): SaslLogin {
  const { current, renew } = createRereading({
    initial: login.password,
    setting: settingInUse(process.env, ['KAFKA_PASSWORD']),
    log,
    read: () => readConfig(process.env).kafka.sasl?.password ?? '',
  });
  return {
    mechanism: login.mechanism,
    username: login.username,
    get password() {
      renew(current());
      return current();
    },
  };
}

/** @param given.read reads the value again; it may throw while a file is being replaced */
function createRereading(given: { initial: string; setting: string; read: () => string; log: Logger }): {
  current(): string;
  renew(refused: string): boolean;
} {
  const { setting, read, log } = given;
  let current = given.initial;
  let readAt = Number.NEGATIVE_INFINITY;

  function newest(): string {
    try {
      return read();
    } catch (error) {
      log.warn({ err: error, setting }, 'failed to read the credentials again; keeping the former ones');
      return current;
    }
  }

  return {
    current: () => current,
    renew(refused) {
      // Another request has read the credentials meanwhile.
      if (current !== refused) return true;
      const now = performance.now();
      if (now - readAt < READ_EVERY) return false;
      readAt = now;
      const found = newest();
      if (found === '' || found === current) return false;
      current = found;
      log.info({ setting }, 'the credentials have changed and were read again');
      return true;
    },
  };
}
