import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';
import type { S3Settings } from '../settings/config.ts';
import { type FileTarget, type Stored, TargetFailed } from './target.ts';

/** Only letters that need no encoding in a URL or in XML. */
const LOCATION = /^s3:\/\/([a-z0-9][a-z0-9.-]+)(?:\/([A-Za-z0-9._/-]*))?$/;
const ATTEMPTS = 5;
/** Longest time of one request: an object of 32 MiB on a slow line. */
const REQUEST_MS = 300_000;

/**
 * Keeps files in a bucket of S3-compatible storage. A request that fails or gets a status from 500 on is tried again.
 *
 * @param text `s3://bucket` or `s3://bucket/prefix`
 * @throws {TargetFailed} when the location is malformed or no key is set
 */
export function s3Target(text: string, settings: S3Settings): FileTarget {
  const [, bucket, path = ''] = LOCATION.exec(text) ?? [];
  if (bucket === undefined) {
    throw new TargetFailed(
      `${text} must be s3://bucket/prefix, with letters, digits, ".", "_", "-", and "/" in the prefix`,
    );
  }
  const { accessKeyId, secretAccessKey, sessionToken, region } = settings;
  if (accessKeyId === '' || secretAccessKey === '') {
    throw new TargetFailed(`${text} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`);
  }
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  const client = new AwsClient({ ...credentials, region, service: 's3', retries: 0 });
  const endpoint = settings.endpoint || `https://s3.${region}.amazonaws.com`;
  const folder = path.replace(/\/+$/, '');
  const prefix = folder === '' ? '' : `${folder}/`;
  const base = `${endpoint}/${bucket}`;

  async function request(method: string, url: string, body?: Uint8Array<ArrayBuffer>): Promise<Response> {
    const hash = createHash('sha256').update(body ?? '');
    const headers = { 'x-amz-content-sha256': hash.digest('hex') };
    for (let attempt = 1; ; attempt += 1) {
      const signal = AbortSignal.timeout(REQUEST_MS);
      const outcome = await client
        .fetch(url, { method, headers, signal, ...(body && { body }) })
        .catch((error: unknown) => new Error(`no response: ${causeOf(error)}`));
      const isWorthRetry = outcome instanceof Error || outcome.status >= 500 || outcome.status === 429;
      if (!isWorthRetry) return outcome;
      if (attempt === ATTEMPTS) {
        throw new TargetFailed(
          `${text}: ${method} ${url}: ${outcome instanceof Error ? outcome.message : await reasonOf(outcome)}`,
        );
      }
      if (outcome instanceof Response) await outcome.body?.cancel();
      await delay(2 ** attempt * 100);
    }
  }

  /** @throws {TargetFailed} with the storage's error, unless the status is 2xx */
  async function accepted(method: string, url: string, body?: Uint8Array<ArrayBuffer>): Promise<Response> {
    const response = await request(method, url, body);
    if (!response.ok) throw new TargetFailed(`${text}: ${method} ${url}: ${await reasonOf(response)}`);
    return response;
  }

  const at = (key: string) => `${base}/${prefix}${key}`;
  return {
    name: text,
    async put(key, bytes) {
      await (await accepted('PUT', at(key), bytes)).body?.cancel();
    },
    async get(key) {
      const response = await request('GET', at(key));
      if (response.status === 404) {
        const reason = await reasonOf(response);
        if (reason.includes('NoSuchKey')) return null;
        throw new TargetFailed(`${text}: ${reason}`);
      }
      if (!response.ok) throw new TargetFailed(`${text}: GET ${at(key)}: ${await reasonOf(response)}`);
      return new Uint8Array(await response.arrayBuffer());
    },
    async list(under) {
      const stored: Stored[] = [];
      for (let token: string | undefined = ''; token !== undefined; ) {
        const query = new URLSearchParams({ 'list-type': '2', prefix: prefix + under });
        if (token !== '') query.set('continuation-token', token);
        const page = await (await accepted('GET', `${base}?${query}`)).text();
        for (const [, entry = ''] of page.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
          stored.push({
            key: field(entry, 'Key').slice(prefix.length),
            bytes: Number(field(entry, 'Size')),
            modifiedMs: Date.parse(field(entry, 'LastModified')),
          });
        }
        token = field(page, 'IsTruncated') === 'true' ? field(page, 'NextContinuationToken') : undefined;
      }
      return stored;
    },
    async remove(key) {
      const response = await request('DELETE', at(key));
      if (!response.ok && response.status !== 404) {
        throw new TargetFailed(`${text}: DELETE ${at(key)}: ${await reasonOf(response)}`);
      }
      await response.body?.cancel();
    },
  };
}

function field(xml: string, name: string): string {
  const [, text = ''] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? [];
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

/** Returns the status, with the code and message of S3's error document. */
async function reasonOf(response: Response): Promise<string> {
  const xml = await response.text().catch(() => '');
  const parts = [field(xml, 'Code'), field(xml, 'Message')].filter((part) => part !== '');
  return `status ${response.status}${parts.length > 0 ? ` (${parts.join(': ')})` : ''}`;
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.cause.name : error.message;
}
