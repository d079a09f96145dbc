import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { BlockList, isIPv4 } from 'node:net';
import { Ajv } from 'ajv';
import { DCLinter } from 'dclint';
import { expect, test } from 'vitest';
import { openBlockedDomains } from '../../core/links/blocked-domains.ts';
import { readConfig, SETTING_NAMES } from '../../core/settings/config.ts';
import { settingsOfReplica } from '../../core/settings/replicas.ts';
import { fileSettingOf, SECRET_SETTINGS } from '../../core/settings/secrets.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { composeSettings, ROOT, readComposeFile, readYaml } from './compose-file.ts';

/** The result of dclint; its own types name files without their extension and do not resolve. */
type LintResult = { messages: { line: number; message: string }[] };

const compose = readComposeFile();
const services = Object.entries(compose.services);
/** Returns an environment without the files of its secrets, which only a container has. */
const withoutFiles = (environment: Record<string, string>) =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !name.endsWith('_FILE')));
/** The services that run our own image. */
const isOwn = ({ image }: { image: string }) => image === 'hoplog:local';

test('the compose file follows the schema of the Compose Specification', () => {
  const schemaFile = createRequire(import.meta.url).resolve('dclint/package.json');
  const schema = JSON.parse(
    readFileSync(schemaFile.replace('package.json', 'schemas/compose.schema.json'), 'utf8'),
  );
  delete schema.$schema; // names draft 7 by its https address, which Ajv does not know
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  validate(readYaml('docker-compose.yml'));
  expect(validate.errors).toBeNull();
});

test('the compose file passes its linter', () => {
  const linter = new DCLinter({
    rules: {
      // The order of keys and the quotes are our choice.
      'service-keys-order': 0,
      'services-alphabetical-order': 0,
      'service-dependencies-alphabetical-order': 0,
      'service-ports-alphabetical-order': 0,
      'top-level-properties-order': 0,
      'no-quotes-in-volumes': 0,
      // Same tag, same build: Compose builds it once.
      'no-build-and-image': 0,
      // The rule does not resolve defaults; the test of ports below does.
      'no-unbound-port-interfaces': 0,
      'require-quotes-in-ports': 0,
    },
    quiet: true,
    debug: false,
    exclude: [],
  });
  const results: LintResult[] = linter.lintFiles([`${ROOT}docker-compose.yml`], false);
  expect(results).toHaveLength(1);
  expect(
    results.flatMap(({ messages }) => messages.map(({ line, message }) => `${line}: ${message}`)),
  ).toEqual([]);
});

// Skipped without Docker: schema and linter cover the file on every machine.
if (hasDockerCompose()) {
  test('docker compose reads the file', () => {
    execFileSync('docker', ['compose', '-f', `${ROOT}docker-compose.yml`, 'config', '--quiet'], {
      stdio: 'pipe',
    });
  });
}

test('every image is pinned, every service restarts and has a health check', () => {
  for (const [name, service] of services) {
    if (!isOwn(service)) expect(service.image, name).toMatch(/^[\w./-]+:v?\d+\.\d+[\w.-]*$/);
    expect(service.networks, name).toBeDefined();
    if (name === 'migrate') continue;
    expect(service.restart, name).toBe('unless-stopped');
    expect(service.healthcheck, name).toBeDefined();
    expect(service.healthcheck?.test?.[0], name).toBe(isOwn(service) ? undefined : 'CMD');
  }
});

test('one service builds our image, and the others never pull it from a registry', () => {
  const own = services.filter(([, service]) => isOwn(service));
  expect(own.length).toBeGreaterThan(5);
  expect(own.filter(([, { build }]) => build).map(([name]) => name)).toEqual(['migrate']);
  for (const [name, { build, pull_policy }] of own) if (!build) expect(pull_policy, name).toBe('never');
});

test('every service has only the rights, memory and processes that it needs', () => {
  for (const [name, service] of services) {
    expect(service.cap_drop, name).toEqual(['ALL']);
    expect(service.security_opt, name).toEqual(['no-new-privileges:true']);
    expect(service.mem_limit, name).toMatch(/^\d+[mg]$/);
    expect(service.pids_limit, name).toBeGreaterThan(0);
  }
  // Their start writes settings beside their programs, or is not tested read-only.
  const writable = services.filter(([, { read_only }]) => !read_only).map(([name]) => name);
  expect(writable).toEqual(['clickhouse', 'clickhouse-second', 'kafka-1', 'kafka-2', 'kafka-3', 'grafana']);
});

test('ports are open on loopback alone, for nginx, Caddy, Grafana and Prometheus; databases have no outgoing network', () => {
  const open = services.filter(([, service]) => service.ports);
  expect(open.map(([name]) => name).sort()).toEqual(['caddy', 'grafana', 'nginx', 'prometheus']);
  for (const [name, service] of open) {
    for (const port of service.ports ?? []) expect(port, name).toMatch(/^127\.0\.0\.1:/);
  }
  expect(compose.networks.back?.internal).toBe(true);
  for (const store of ['postgres', 'clickhouse', 'clickhouse-second', 'kafka-1', 'kafka-2', 'kafka-3']) {
    expect(compose.services[store]?.networks, store).toEqual(['back']);
  }
});

test('the network of the proxies is none that Docker gives to other networks', () => {
  const [given] = compose.networks.front?.ipam?.config ?? [];
  const [address = '', bits] = (given?.subnet ?? '').split('/');
  expect([isIPv4(address), bits]).toEqual([true, '24']);
  // Docker's default-address-pools.
  const pools = new BlockList();
  for (let second = 17; second <= 31; second++) pools.addSubnet(`172.${second}.0.0`, 16);
  pools.addSubnet('192.168.0.0', 16);
  expect(pools.check(address)).toBe(false);
});

test('Grafana and Prometheus stay private when the service is public', () => {
  const source = readFileSync(`${ROOT}docker-compose.yml`, 'utf8');
  const published = [...source.matchAll(/"\$\{(\w+):-127\.0\.0\.1\}:\$\{(\w+):-/g)];
  expect(published.map(([, listen, port]) => [port, listen])).toEqual([
    ['REDIRECT_PORT', 'LISTEN'],
    ['API_PORT', 'LISTEN'],
    ['HTTP_PORT', 'TLS_LISTEN'],
    ['HTTPS_PORT', 'TLS_LISTEN'],
    ['PROMETHEUS_PORT', 'MONITORING_LISTEN'],
    ['GRAFANA_PORT', 'MONITORING_LISTEN'],
  ]);
});

test('every stream has a name and a volume of its own, and every database stores its data in a volume', () => {
  const writers = services.filter(([, { environment }]) => environment?.STREAM_NAME);
  expect(writers.map(([name]) => name)).toEqual(['ingest-0', 'ingest-1', 'ingest-2', 'api-0', 'api-1']);
  for (const [name, { environment, volumes }] of writers) {
    expect(volumes, name).toEqual([
      `${environment?.STREAM_NAME}:/data`,
      './deploy/lists:/etc/hoplog/lists:ro',
    ]);
  }
  const kept = services.flatMap(([, { volumes = [] }]) =>
    volumes.filter((volume) => !volume.startsWith('.')),
  );
  expect(new Set(kept).size).toBe(kept.length);
  expect(kept.map((volume) => volume.split(':')[0]).sort()).toEqual(Object.keys(compose.volumes).sort());
});

test('every process of Hoplog gets only settings that exist and are valid', () => {
  const known = new Set(
    [...readFileSync(`${ROOT}.env.example`, 'utf8').matchAll(/^(\w+)=/gm)].map(([, name]) => name),
  ).add(settingsOfReplica('second').url);
  for (const [name, { image, environment = {} }] of services) {
    if (!isOwn({ image })) continue;
    for (const setting of Object.keys(environment)) expect(known, `${name}: ${setting}`).toContain(setting);
    const config = readConfig(withoutFiles(environment));
    expect(config.kafkaBrokers, name).toEqual(['kafka-1:9092', 'kafka-2:9092', 'kafka-3:9092']);
    expect(config.trustProxy).toEqual([compose.networks.front?.ipam?.config[0]?.subnet, '127.0.0.1']);
    // Only migrations connect as the owner of the tables.
    const user = new URL(config.databaseUrl).username;
    expect(user, name).not.toBe(compose.services.postgres?.environment?.POSTGRES_USER);
    expect('DATABASE_OWNER_URL' in environment, name).toBe(name === 'migrate');
    for (const url of [config.databaseUrl, config.databaseOwnerUrl, config.clickhouseUrl]) {
      expect(Object.keys(compose.services), name).toContain(new URL(url).hostname);
    }
  }
});

/** Settings that Compose has no place for: another address of what it runs, backups from the host, tests. */
const NOT_IN_COMPOSE = [
  ...['AWS_ACCESS_KEY_ID', 'AWS_ENDPOINT_URL', 'AWS_REGION', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
  ...['BACKUP_TO', 'CLICKHOUSE_DATABASE', 'DATABASE_DIRECT_URL', 'DATABASE_READ_URL'],
  ...['INGEST_SHARE_PORT', 'LINKS_SNAPSHOT_TO'],
  ...[
    'KAFKA_DEAD_TOPIC',
    'KAFKA_SASL_MECHANISM',
    'KAFKA_TLS',
    'KAFKA_TLS_CA',
    'KAFKA_TLS_CERT',
    'KAFKA_TLS_KEY',
    'KAFKA_TOPIC',
    'KAFKA_USERNAME',
  ],
  ...['CLICKHOUSE_PASSWORD', 'DATABASE_OWNER_PASSWORD', 'DATABASE_PASSWORD', 'KAFKA_PASSWORD'],
  ...['STRIPE_API_BASE', 'WEBHOOK_ALLOW_PRIVATE'],
];

test('every other setting can be set', () => {
  const given = new Set(services.flatMap(([, { environment = {} }]) => Object.keys(environment)));
  const secretFiles = SECRET_SETTINGS.map(fileSettingOf) as string[];
  const missing = SETTING_NAMES.filter((name) => !given.has(name) && !secretFiles.includes(name));
  expect(missing.toSorted()).toEqual(NOT_IN_COMPOSE.toSorted());
});

test('ingest and API read the list of blocked domains from a mounted directory', () => {
  for (const [name, { environment = {}, volumes = [] }] of services) {
    if (!environment.STREAM_NAME) continue;
    const [host = '', inside = ''] = volumes.find((volume) => volume.startsWith('./'))?.split(':') ?? [];
    const path = environment.BLOCKED_DOMAINS_FILE ?? '';
    expect(path.startsWith(`${inside}/`), name).toBe(true);
    const list = openBlockedDomains(path.replace(inside, `${ROOT}${host}`), silentLogger());
    expect(list.blocks('https://shop.example/')).toBe(false);
    list.close();
  }
});

test('passwords are in files, which each service gets that names one, and in no environment', () => {
  const files = Object.entries(compose.secrets).map(([name, { file }]) => [
    name,
    readFileSync(`${ROOT}${file}`, 'utf8'),
  ]);
  expect(files).toEqual(
    ['postgres-service-password', 'postgres-password', 'clickhouse-password', 'grafana-password'].map(
      (name) => [name, 'laptop-only\n'],
    ),
  );
  for (const [name, { environment = {}, secrets = [] }] of services) {
    const named = Object.values(environment).flatMap(
      (value) => /^\/run\/secrets\/(.*)$/.exec(value)?.[1] ?? [],
    );
    expect(named, name).toEqual(secrets);
    for (const [setting, value] of Object.entries(environment)) {
      expect(value, `${name}: ${setting}`).not.toContain('laptop-only');
      if (/PASSWORD/.test(setting)) expect(setting, name).toMatch(/_FILE$/);
    }
  }
});

test('every origin can be set, and those of bio pages and console follow the others', () => {
  const environment = compose.services['api-0']?.environment ?? {};
  for (const name of ['SHORT_URL', 'PUBLIC_URL', 'BASE_URL', 'APP_URL']) {
    expect([...composeSettings().keys()]).toContain(name);
    expect(Object.keys(environment)).toContain(name);
  }
  const config = readConfig({
    ...withoutFiles(environment),
    SHORT_URL: 'https://go.example',
    BASE_URL: 'https://api.example',
  });
  expect(config).toMatchObject({ publicUrl: 'https://go.example', appUrl: 'https://api.example' });
});

test('the example of settings names every one with its default', () => {
  const example = readFileSync(`${ROOT}deploy/compose.env.example`, 'utf8');
  const named = new Map(
    [...example.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  // `images.env` has the others (images.test.ts).
  const settings = [...composeSettings()].filter(([name]) => !name.endsWith('_IMAGE'));
  expect(named).toEqual(new Map(settings));
});

test('nginx proxies to each ingest process and to the API, and Prometheus scrapes every process', () => {
  const nginx = readFileSync(`${ROOT}deploy/nginx/default.conf`, 'utf8');
  const upstreams = [...nginx.matchAll(/^upstream (\w+) \{(.*?)^\}/gms)].map(([, name, servers = '']) => [
    name,
    [...servers.matchAll(/^ {2}server (\S+):\d+ resolve/gm)].map(([, host]) => host),
  ]);
  const ingest = ['ingest-0', 'ingest-1', 'ingest-2'];
  expect(Object.fromEntries(upstreams)).toEqual({ ingest, ingest_any: ingest, api: ['api-0', 'api-1'] });
  const prometheus = readYaml('deploy/prometheus/prometheus.yml') as {
    scrape_configs: { static_configs: { targets: string[] }[] }[];
  };
  const targets = prometheus.scrape_configs.flatMap(({ static_configs: [first] }) => first?.targets ?? []);
  const processes = services.filter(([name, service]) => isOwn(service) && name !== 'migrate');
  expect(targets.sort()).toEqual(processes.map(([name]) => `${name}:9464`).sort());
});

test('Caddy and the second replica start with their profiles alone', () => {
  const profiles = services.flatMap(([name, service]) => (service.profiles ?? []).map((one) => [name, one]));
  expect(profiles).toEqual([
    ['caddy', 'caddy'],
    ['clickhouse-second', 'ha'],
  ]);
});

test('with the profile ha, every process has the address and credentials of both replicas, which are alike', () => {
  const { clickhouse, 'clickhouse-second': second } = compose.services;
  expect({ ...second, profiles: undefined, volumes: [] }).toEqual({ ...clickhouse, volumes: [] });
  // Without the profile there is no such server, and migrations start all the same.
  expect(compose.services.migrate?.depends_on?.['clickhouse-second']).toEqual({
    condition: 'service_healthy',
    required: false,
  });
  for (const [name, { image, environment = {} }] of services) {
    if (!isOwn({ image })) continue;
    const settings = { ...withoutFiles(environment), CLICKHOUSE_PASSWORD: 'p' };
    const { clickhouseReplicas } = readConfig({ ...settings, CLICKHOUSE_REPLICAS: 'main,second' });
    const servers = clickhouseReplicas.map((one) => ({ ...one, url: new URL(one.url) }));
    expect(
      servers.map(({ name: replica, url }) => [replica, url.username, url.password, url.host]),
      name,
    ).toEqual([
      ['main', 'hoplog', 'p', 'clickhouse:8123'],
      ['second', 'hoplog', 'p', 'clickhouse-second:8123'],
    ]);
    expect(readConfig(settings).clickhouseReplicas.map((one) => one.name)).toEqual(['main']);
  }
});

test('Caddy has every setting of its file', () => {
  const caddyfile = readFileSync(`${ROOT}deploy/caddy/Caddyfile`, 'utf8');
  const named = new Set([...caddyfile.matchAll(/\{\$(\w+)\}/g)].map(([, name]) => name));
  const environment = compose.services.caddy?.environment ?? {};
  expect(Object.keys(environment).sort()).toEqual([...named].sort());
  const hosts = (setting = '') => setting.split(' ').map((address) => address.split(':')[0]);
  expect(hosts(environment.REDIRECTS)).toEqual(['ingest-0', 'ingest-1', 'ingest-2']);
  expect(hosts(environment.API)).toEqual(['api-0', 'api-1']);
  const { hostname, port } = new URL(environment.TLS_ALLOWED ?? '');
  expect([hostname, port]).toEqual(['ingest', compose.services['ingest-0']?.environment?.METRICS_PORT]);
  // It reaches them, and they take the visitor's address from it.
  for (const name of [...hosts(environment.REDIRECTS), ...hosts(environment.API)]) {
    const { networks = [] } = compose.services[name ?? ''] ?? {};
    expect(Array.isArray(networks) ? networks : Object.keys(networks), name).toContain('front');
    // Each of them can tell whether a domain is proven: Caddy asks any that runs.
    const aliases = Array.isArray(networks) ? [] : (networks.front?.aliases ?? []);
    expect(aliases, name).toEqual(name?.startsWith('ingest') ? ['ingest'] : []);
  }
  expect(compose.services.caddy?.networks).toEqual(['front']);
});

function hasDockerCompose(): boolean {
  try {
    execFileSync('docker', ['compose', 'version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
