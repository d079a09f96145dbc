import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseReference, pinned, withImages } from '../../deploy/pin-images.ts';
import { imageOf } from '../support/images.ts';
import { composeSettings, ROOT, readComposeFile } from './compose-file.ts';
import { readStages } from './dockerfile-stages.ts';

const DIGEST = `sha256:${'a1'.repeat(32)}`;

/** A registry with one image, `own/app:1`, for those who ask with a token. */
let registry: Server;
let host: string;

beforeAll(async () => {
  registry = createServer((request, response) => {
    const url = new URL(request.url ?? '', `http://${host}`);
    if (url.pathname === '/token') {
      const isAsked = url.searchParams.get('service') === 'here' && url.searchParams.get('scope') === 'pull';
      response.end(JSON.stringify({ token: isAsked ? 'ticket' : 'other' }));
    } else if (request.headers.authorization !== 'Bearer ticket') {
      const challenge = `Bearer realm="http://${host}/token",service="here",scope="pull"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end();
    } else if (url.pathname === '/v2/own/app/manifests/1' && request.method === 'HEAD') {
      response.writeHead(200, { 'docker-content-digest': DIGEST }).end();
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(registry.address() as AddressInfo).port}`;
});
afterAll(() => void registry.close());

test('pinning sets the digest of each tag, replaces an earlier one, and keeps the rest of the file', async () => {
  const text = `# Comment: a=b@c\nAPP_IMAGE=${host}/own/app:1\nSAME_IMAGE=${host}/own/app:1@sha256:old\n`;
  const want = `${host}/own/app:1@${DIGEST}`;
  expect(await pinned(text)).toBe(`# Comment: a=b@c\nAPP_IMAGE=${want}\nSAME_IMAGE=${want}\n`);
});

test('a tag that the registry does not have is an error that names the image', async () => {
  await expect(pinned(`APP_IMAGE=${host}/own/app:2\n`)).rejects.toThrow(
    `image ${host}/own/app:2: http://${host}/v2/own/app/manifests/2 returned status 404`,
  );
  await expect(pinned('APP_IMAGE=app\n')).rejects.toThrow('image app: must have a tag');
});

test.each([
  ['postgres:18.4', 'https://registry-1.docker.io', 'library/postgres', '18.4'],
  ['prom/prometheus:v3.5.0@sha256:1', 'https://registry-1.docker.io', 'prom/prometheus', 'v3.5.0'],
  ['ghcr.io/a/b/c:1', 'https://ghcr.io', 'a/b/c', '1'],
  ['localhost:5000/a:1', 'http://localhost:5000', 'a', '1'],
])('%s is found in its registry', (text, origin, repository, tag) => {
  expect(parseReference(text)).toEqual({ origin, repository, tag });
});

test('the chart and the containers of tests use the images of images.env', () => {
  const images = readFileSync(`${ROOT}deploy/images.env`, 'utf8');
  const values = readFileSync(`${ROOT}deploy/helm/hoplog/values.yaml`, 'utf8');
  const used = [...values.matchAll(/^ +image: (\S+)$/gm)].map(([, image = '']) => image);
  expect(used).toEqual(['POSTGRES_IMAGE', 'CLICKHOUSE_IMAGE', 'CADDY_IMAGE'].map(imageOf));
  const renewed = images.replace(/^(POSTGRES_IMAGE=[^@\n]+).*$/m, `$1@${DIGEST}`);
  expect(withImages(values, renewed)).toBe(
    values.replace(imageOf('POSTGRES_IMAGE'), `${imageOf('POSTGRES_IMAGE').split('@')[0]}@${DIGEST}`),
  );
  expect(() => imageOf('NO_IMAGE')).toThrow('deploy/images.env has no NO_IMAGE');
});

test('images.env has exactly the images of docker-compose.yml and Dockerfile, with the same tags', () => {
  const text = readFileSync(`${ROOT}deploy/images.env`, 'utf8');
  const listed = new Map(
    [...text.matchAll(/^(\w+)=([^@\n]+)/gm)].map(([, name = '', image = '']) => [name, image]),
  );
  const settings = [...composeSettings()].filter(([name]) => name.endsWith('_IMAGE'));
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(settings));
  const used = Object.values(readComposeFile().services).map(({ image }) => image);
  expect(new Set(used)).toEqual(
    new Set(['hoplog:local', ...[...listed.values()].filter((image) => !image.startsWith('node:'))]),
  );
  const bases = new Set(readStages().map(({ from }) => from));
  expect(bases).toContain(listed.get('NODE_IMAGE'));
});
