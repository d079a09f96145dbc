import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** The checkout, which contains `docker-compose.yml`. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export type Service = {
  image: string;
  profiles?: string[];
  build?: { context: string; args: Record<string, string> };
  pull_policy?: string;
  command?: string[];
  environment?: Record<string, string>;
  /** Ours have the test of the image. */
  healthcheck?: { test?: string[]; disable?: boolean };
  secrets?: string[];
  restart?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  mem_limit?: string;
  pids_limit?: number;
  ports?: string[];
  volumes?: string[];
  networks?: string[] | Record<string, { aliases?: string[] }>;
  depends_on?: Record<string, { condition: string; required?: boolean }>;
};

export type ComposeFile = {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean; ipam?: { config: { subnet: string }[] } } | null>;
  volumes: Record<string, object | null>;
  secrets: Record<string, { file: string }>;
};

/** Reads a YAML file of the checkout with its merge keys (`<<`) resolved. */
export function readYaml(path: string): unknown {
  return parse(readFileSync(`${ROOT}${path}`, 'utf8'), { merge: true });
}

/** Reads `docker-compose.yml` without any setting: every `${NAME:-default}` is its default. */
export function readComposeFile(): ComposeFile {
  return withDefaults(readYaml('docker-compose.yml')) as ComposeFile;
}

/** Returns names and defaults of the settings that `docker-compose.yml` takes from its environment. */
export function composeSettings(): Map<string, string> {
  const settings = new Map<string, string>();
  for (const [, name = '', value = ''] of readFileSync(`${ROOT}docker-compose.yml`, 'utf8').matchAll(
    /\$\{(\w+):-([^}]*)\}/g,
  )) {
    settings.set(name, value);
  }
  return settings;
}

function withDefaults(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\$\{\w+:-([^}]*)\}/g, '$1');
  if (Array.isArray(value)) return value.map(withDefaults);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withDefaults(inner)]));
}
