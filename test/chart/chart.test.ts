import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { Ajv, type AnySchemaObject } from 'ajv';
import { expect, test } from 'vitest';
import { SETTING_NAMES } from '../../core/settings/config.ts';
import { fileSettingOf, SECRET_SETTINGS } from '../../core/settings/secrets.ts';
import { ROOT, readComposeFile, readYaml } from '../deploy/compose-file.ts';
import { schemaParts, valuesPage } from './values-page.ts';

const CHART = `${ROOT}deploy/helm/hoplog/`;
/** Variables of other images, and of Node.js. */
const OF_IMAGES = ['POSTGRES_DB', 'POSTGRES_PASSWORD_FILE', 'POSTGRES_USER'];
const OF_CADDY = [
  ...['SHORT_HOST', 'API_HOST', 'EMAIL', 'REDIRECTS', 'API', 'TLS_ALLOWED'],
  ...['XDG_DATA_HOME', 'XDG_CONFIG_HOME'],
];
const NO_SETTINGS = [...OF_IMAGES, ...OF_CADDY, 'NODE_EXTRA_CA_CERTS'];
/** A setting that the image sets, and one that has no use in a pod. */
const OF_IMAGE = ['DATA_DIR', 'INGEST_SHARE_PORT'];
/** Settings that the chart sets only where values do not. */
const BY_DEFAULT = ['INGEST_LINKS_IN_MEMORY'];

const templates = readdirSync(`${CHART}templates`).map((name) =>
  readFileSync(`${CHART}templates/${name}`, 'utf8'),
);
const values = readYaml('deploy/helm/hoplog/values.yaml') as Record<string, unknown>;
const schema = JSON.parse(readFileSync(`${CHART}values.schema.json`, 'utf8')) as AnySchemaObject;

/** Returns the paths of an object, such as `ingest.volume.size`, down to values and free maps. */
function pathsOf(value: unknown, path = ''): string[] {
  const inner =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
  const isMap = inner.length === 0 || MAPS.some((name) => path.endsWith(name));
  return isMap ? [path] : inner.flatMap(([name, one]) => pathsOf(one, path ? `${path}.${name}` : name));
}
const MAPS = ['secretKeys', 'abels', '.requests', '.limits', 'nnotations', 'odeSelector', '.affinity'];

test('the schema describes every value, and the defaults follow it', () => {
  const validate = new Ajv({ strict: false }).compile(schema);
  validate(values);
  expect(validate.errors).toBeNull();
  expect(schema.description).toMatch(/\.$/);
  const parts = schemaParts();
  for (const [path, { description }] of parts) expect(description, path).toMatch(/\.$/);
  // Helm adds `global` to the values of every chart.
  const described = parts.flatMap(([path, { properties }]) =>
    properties || path === 'global' ? [] : [path],
  );
  expect(described.sort()).toEqual(pathsOf(values).sort());
});

test('the page of values says the default and the meaning of each', async () => {
  await expect(valuesPage()).toMatchFileSnapshot(`${CHART}VALUES.md`);
});

test('every value that a template uses exists, and every value is used', () => {
  const used = templates.flatMap((text) =>
    [...text.matchAll(/\.Values((?:\.\w+)+)/g)].map(([, path = '']) => path),
  );
  const known = pathsOf(values).map((path) => `.${path}`);
  const isKnown = (path: string) => known.some((one) => one === path || one.startsWith(`${path}.`));
  expect(used.length).toBeGreaterThan(50);
  expect(used.filter((path) => !isKnown(path))).toEqual([]);
  const text = templates.join('\n');
  // `resources` is copied whole.
  const names = pathsOf(values).map(
    (path) =>
      path
        .replace(/\.(requests|limits)$/, '')
        .split('.')
        .at(-1) ?? '',
  );
  expect(names.filter((name) => !new RegExp(`\\.${name}\\b`).test(text))).toEqual([]);
});

test('processes get only settings that exist, and values cannot set those twice', () => {
  const named = templates.flatMap((text) => [...text.matchAll(/^ *- (?:\{ )?name: ([A-Z][A-Z0-9_]+)\b/gm)]);
  const names = [...new Set(named.map(([, name = '']) => name))].filter(
    (name) => !NO_SETTINGS.includes(name),
  );
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => !SETTING_NAMES.includes(name))).toEqual([]);
  const validate = new Ajv({ strict: false }).compile(schema);
  const refused = SETTING_NAMES.filter((name) => !validate({ settings: { [name]: 'x' } }));
  const files = SECRET_SETTINGS.map(fileSettingOf) as string[];
  const set = names.filter((name) => !files.includes(name) && !BY_DEFAULT.includes(name));
  // A secret is a file: of the Secret, or one that values name.
  expect(refused.toSorted()).toEqual([...new Set([...set, ...SECRET_SETTINGS, ...OF_IMAGE])].sort());
});

test('the keys of the Secret are settings that hold a secret, and any of those can be one', () => {
  const validate = new Ajv({ strict: false }).compile(schema);
  const known: readonly string[] = SECRET_SETTINGS;
  expect(Object.keys(values.secretKeys ?? {}).filter((key) => !known.includes(key))).toEqual([]);
  for (const key of SECRET_SETTINGS) expect(validate({ secretKeys: { [key]: true } }), key).toBe(true);
});

test('alerts, dashboard, and Caddyfile are the deployed files, not copies', () => {
  const file = (path: string) => realpathSync(path).slice(realpathSync(ROOT).length);
  expect(file(`${CHART}files/alerts.yml`)).toMatch(/deploy\/prometheus\/alerts\.yml$/);
  expect(file(`${CHART}files/dashboard.json`)).toMatch(/deploy\/grafana\/dashboards\/hoplog\.json$/);
  expect(file(`${CHART}files/Caddyfile`)).toMatch(/deploy\/caddy\/Caddyfile$/);
});

test('versions are those of the package and of docker-compose.yml', () => {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  expect(readYaml('deploy/helm/hoplog/Chart.yaml')).toMatchObject({ version, appVersion: version });
  const { services } = readComposeFile();
  expect(values).toMatchObject({
    postgres: { image: services.postgres?.image },
    clickhouse: { image: services.clickhouse?.image },
    kafka: { version: services['kafka-1']?.image.split(':')[1] },
    domainProxy: { image: services.caddy?.image },
  });
});
