import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Pins the images of `images.env`: replaces the digest of each by the one that its tag has in the registry now. The
 * Helm chart's values get the same references, since a chart cannot read a file outside of it.
 *
 *   npm run images:pin
 */

const FILE = fileURLToPath(new URL('images.env', import.meta.url));
const CHART_VALUES = fileURLToPath(new URL('helm/hoplog/values.yaml', import.meta.url));
const TIMEOUT_MS = 30_000;
/** Indexes of several platforms come first: their digest serves each platform. */
const ACCEPT = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/** A reference such as `postgres:18.4`, `prom/prometheus:v3@sha256:…`, or `registry.example/name:1`. */
type Reference = { origin: string; repository: string; tag: string };

/** @throws Error when the reference has no tag */
export function parseReference(text: string): Reference {
  const [, host, path, tag] = /^(?:([^/]*[.:][^/]*)\/)?([^:@]+):([^@]+)(?:@.*)?$/.exec(text) ?? [];
  if (path === undefined || tag === undefined) throw new Error(`image ${text}: must have a tag`);
  if (host === undefined) {
    const repository = path.includes('/') ? path : `library/${path}`;
    return { origin: 'https://registry-1.docker.io', repository, tag };
  }
  const isLocal = /^(localhost|127\.0\.0\.1)(:|$)/.test(host);
  return { origin: `${isLocal ? 'http' : 'https'}://${host}`, repository: path, tag };
}

/**
 * Returns the digest that a tag has in its registry, such as `sha256:…`.
 *
 * @throws Error naming the image, when the registry does not know it or does not respond
 */
export async function digestOf(image: string): Promise<string> {
  const { origin, repository, tag } = parseReference(image);
  const url = `${origin}/v2/${repository}/manifests/${tag}`;
  const head = (headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'HEAD',
      headers: { accept: ACCEPT, ...headers },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  try {
    let response = await head();
    const challenge = response.headers.get('www-authenticate');
    if (response.status === 401 && challenge) {
      response = await head({ authorization: `Bearer ${await anonymousToken(challenge)}` });
    }
    const digest = response.headers.get('docker-content-digest') ?? '';
    if (!response.ok || !/^sha256:[0-9a-f]{64}$/.test(digest)) {
      throw new Error(`${url} returned status ${response.status} and digest "${digest}"`);
    }
    return digest;
  } catch (error) {
    throw new Error(`image ${image}: ${reason(error)}`, { cause: error });
  }
}

/** Returns a token for pulls without an account, as a registry asks for in its challenge. */
async function anonymousToken(challenge: string): Promise<string> {
  const { realm, ...query } = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  const url = `${realm}?${new URLSearchParams(query)}`;
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url} returned status ${response.status}`);
  const { token } = (await response.json()) as { token?: string };
  if (!token) throw new Error(`${url} returned no token`);
  return token;
}

/**
 * Returns the text of the file with every image at its present digest. Comments stay.
 *
 * @throws Error naming the first image without a digest; nothing is pinned then
 */
export async function pinned(text: string): Promise<string> {
  const lines = text.split('\n').map(async (line) => {
    const [, name, image] = /^(\w+)=([^@]+)/.exec(line) ?? [];
    return image === undefined ? line : `${name}=${image}@${await digestOf(image)}`;
  });
  return (await Promise.all(lines)).join('\n');
}

/** Returns the text of the chart's values with the images of `images.env`, found by their repository and tag. */
export function withImages(values: string, imagesEnv: string): string {
  const listed = [...imagesEnv.matchAll(/^\w+=(\S+)$/gm)].map(([, image = '']) => image);
  const withoutDigest = (image: string) => image.split('@', 1)[0];
  return values.replace(/^( +image: )(\S+)$/gm, (line, key: string, image: string) => {
    const found = listed.find((one) => withoutDigest(one) === withoutDigest(image));
    return found === undefined ? line : `${key}${found}`;
  });
}

function reason(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}

if (import.meta.main) {
  try {
    const images = await pinned(readFileSync(FILE, 'utf8'));
    writeFileSync(FILE, images);
    writeFileSync(CHART_VALUES, withImages(readFileSync(CHART_VALUES, 'utf8'), images));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
