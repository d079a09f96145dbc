import { readFileSync } from 'node:fs';
import { secretsOfReplicas } from './replicas.ts';
import { fileSettingOf, SECRET_SETTINGS } from './secrets.ts';
import { ConfigError } from './settings-error.ts';

/**
 * Returns the environment with the value of each secret that is in a file, as Docker and Kubernetes mount them. The
 * newline at the end of the file is not part of the value.
 *
 * @throws {ConfigError} when a secret is set twice, or its file can't be read or is not one line
 */
export function readSecretFiles(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const read: NodeJS.ProcessEnv = {};
  for (const name of secretsOf(env)) {
    const path = env[fileSettingOf(name)];
    if (path === undefined || path === '') continue;
    if (env[name]) throw new ConfigError(fileSettingOf(name), path, `must be empty while ${name} is set`);
    read[name] = readSecretFile(name, path);
  }
  return { ...env, ...read };
}

/** Returns the environment with the values of secrets in place of their files, for a process that can't read these. */
export function withSecretValues(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const complete = readSecretFiles(env);
  for (const name of secretsOf(env)) delete complete[fileSettingOf(name)];
  return complete;
}

const secretsOf = (env: NodeJS.ProcessEnv) => [...SECRET_SETTINGS, ...secretsOfReplicas(env)];

function readSecretFile(name: ReturnType<typeof secretsOf>[number], path: string): string {
  const setting = fileSettingOf(name);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(setting, path, `must be a file that this user can read (${code})`);
  }
  const value = text.replace(/\r?\n$/, '');
  if (value === '' || /[\r\n]/.test(value)) {
    throw new ConfigError(setting, path, 'must be a file with one line, which is the value');
  }
  return value;
}
