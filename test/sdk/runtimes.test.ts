import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../cli/embedded/free-port.ts';
import { newSecret, printSecret, signatureHeaders } from '../../core/webhooks/signature.ts';
import { follow, makeLink, untilClicks } from '../support/first-click.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';
import { until } from '../support/until.ts';
import { installTypeScriptSdk } from './packed.ts';

/** The packed SDK for TypeScript in runtimes beside Node.js, against a real service. */

const run = promisify(execFile);
const RUNTIMES = join(import.meta.dirname, 'runtimes/node_modules/.bin');
/** Null where they are installed, with what to do otherwise. */
const NO_RUNTIMES = existsSync(join(RUNTIMES, 'deno')) ? null : 'npm ci --prefix test/sdk/runtimes';
const HOUR = 3_600_000;

let folder: string;
let served: ServedWorkspace;
let given: object;
let expected: object;

/** Prints what the program returns. */
const MAIN = `
import { play } from './runtime.mjs';
console.log(JSON.stringify(await play(JSON.parse(process.env.GIVEN))));
`;
/** Answers a request with what the program returns. An edge runtime has no environment: the request brings it. */
const EDGE = `
import { play } from './runtime.mjs';
addEventListener('fetch', (event) => event.respondWith(
  event.request.json().then(play).then((played) => Response.json(played))));
`;

test('other runtimes are installed', { tags: 'nightly' }, ({ skip }) =>
  skip(NO_RUNTIMES !== null, NO_RUNTIMES ?? ''),
);

describe.skipIf(NO_RUNTIMES !== null)('the SDK for TypeScript', { tags: 'nightly' }, () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hoplog-runtimes-'));
    await installTypeScriptSdk(folder);
    cpSync(join(import.meta.dirname, 'programs/runtime.mjs'), join(folder, 'runtime.mjs'));
    writeFileSync(join(folder, 'main.mjs'), MAIN);
    writeFileSync(join(folder, 'edge.mjs'), EDGE);
    served = await servedWorkspace();
    const { service } = served;
    const link = await makeLink(service, service.demo.secret_key, 'runtime');
    await until(
      'a redirect',
      () => follow(link),
      ({ status }) => status === 302,
    );
    await untilClicks(service, service.demo.secret_key, link, 1);
    const secret = newSecret();
    const body = JSON.stringify({
      id: 'e-1',
      type: 'sale.created',
      created_at: 'now',
      data: { city: 'Zürich' },
    });
    const signed = (at: number) => ({ body, headers: signatureHeaders('e-1', body, [secret], at) });
    given = {
      baseUrl: new URL(service.api_url).origin,
      key: service.demo.secret_key,
      linkId: link.id,
      secret: printSecret(secret),
      delivery: signed(Date.now()),
      old: signed(Date.now() - HOUR),
    };
    expected = {
      isListed: true,
      polled: link.id,
      type: 'sale.created',
      refusal: 'WebhookVerificationError',
      missing: [404, 'not_found'],
    };
  });
  afterAll(async () => {
    await served?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  test.each([
    [
      'Deno',
      'deno',
      [
        'run',
        '--quiet',
        '--no-lock',
        '--node-modules-dir=manual',
        '--allow-net',
        '--allow-env',
        '--allow-read',
      ],
    ],
    ['Bun', 'bun', ['run']],
  ])('runs in %s', async (_, command, flags) => {
    const env = { ...process.env, GIVEN: JSON.stringify(given) };
    const { stdout } = await run(join(RUNTIMES, command), [...flags, 'main.mjs'], { cwd: folder, env });
    expect(JSON.parse(stdout)).toEqual(expected);
  });

  test('runs in an edge runtime', async () => {
    const script = join(folder, 'edge.js');
    const options = { bundle: true, format: 'iife', platform: 'browser', outfile: script } as const;
    await build({ entryPoints: [join(folder, 'edge.mjs')], ...options });
    const port = await freePort();
    const child = spawn(join(RUNTIMES, 'edge-runtime'), ['--listen', '--port', String(port), script], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ended = once(child, 'exit');
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    const ask = () =>
      fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: JSON.stringify(given) }).catch(() => null);
    const response = await until('the edge runtime', ask, (answer) => answer !== null);
    expect(await response?.json()).toEqual(expected);
  });
});
