import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../cli/embedded/free-port.ts';
import { newSecret, printSecret, signatureHeaders } from '../../core/webhooks/signature.ts';
import { blocksOf, readDocument } from '../docs/markdown.ts';
import { until } from '../support/until.ts';
import {
  installPythonSdk,
  installTypeScriptSdk,
  linkPackage,
  NO_PYTHON,
  PYTHON,
  type Runtime,
} from './packed.ts';

/** The handlers of the guide on SDKs, each in its framework, with the packed SDKs. */

const FRAMEWORKS = join(import.meta.dirname, 'frameworks/node_modules');
const guide = readDocument('docs/sdks.md');
const secret = newSecret();
const body = JSON.stringify({ id: 'e-1', type: 'sale.created', created_at: 'now', data: { city: 'Zürich' } });

type Send = (body: string, headers: Record<string, string>) => Promise<{ status: number; text: string }>;

let folder: string;
let python: Runtime;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hoplog-handlers-'));
  await installTypeScriptSdk(folder);
  if (NO_PYTHON === null) python = await installPythonSdk(folder);
  await linkPackage(folder, 'fastify');
  if (existsSync(FRAMEWORKS))
    for (const name of ['express', 'hono']) await linkPackage(folder, name, FRAMEWORKS);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the code below a heading of the guide. */
function handlerOf(framework: string, language: string): string {
  const [, section = ''] = guide.split(`### ${framework}\n`);
  const [code] = blocksOf(section.split('\n### ')[0] ?? '', language);
  if (code === undefined) throw new Error(`the guide has no handler for ${framework}`);
  return code;
}

/** Writes a handler as JavaScript. */
async function write(framework: string): Promise<string> {
  const file = join(folder, `${framework.toLowerCase().replaceAll('.', '')}.mjs`);
  const { code } = await transform(handlerOf(framework, 'ts'), { loader: 'ts', format: 'esm' });
  writeFileSync(file, code);
  return file;
}

/** Starts a server until the end of the test. */
async function serve(command: string, args: string[], port: number): Promise<Send> {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, ...python?.env, PORT: String(port), HOPLOG_WEBHOOK_SECRET: printSecret(secret) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = `http://127.0.0.1:${port}/hoplog`;
  const post = (text: string, headers: Record<string, string>) =>
    fetch(url, { method: 'POST', body: text, headers: { 'content-type': 'application/json', ...headers } });
  await until(
    'the server',
    () =>
      post('{}', {}).then(
        ({ status }) => status,
        () => 0,
      ),
    Boolean,
  );
  return async (text, headers) => {
    const response = await post(text, headers);
    return { status: response.status, text: await response.text() };
  };
}

async function expectOnlyGenuine(send: Send): Promise<void> {
  const headers = signatureHeaders('e-1', body, [secret], Date.now());
  expect(await send(body, headers)).toEqual({ status: 204, text: '' });
  const refused = [
    ['altered', body.replace('e-1', 'e-2'), headers],
    ['old', body, signatureHeaders('e-1', body, [secret], Date.now() - 600_000)],
    ['of another secret', body, signatureHeaders('e-1', body, [newSecret()], Date.now())],
    ['unsigned', body, {}],
  ] as const;
  for (const [what, text, given] of refused) {
    const { status, text: said } = await send(text, given);
    expect([what, status, said.length > 10]).toEqual([what, 400, true]);
  }
}

/** Serves a handler of the web's `Request` and `Response`, as Next.js and Hono's servers do. */
const WEB_SERVER = `
import { createServer } from 'node:http';
const handler = await import(process.argv[2]);
const handle = handler.POST ?? ((request) => handler.default.fetch(request));
createServer(async (incoming, outgoing) => {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const { method, headers } = incoming;
  const response = await handle(new Request('http://h' + incoming.url, { method, headers, body: Buffer.concat(chunks) }));
  outgoing.writeHead(response.status).end(Buffer.from(await response.arrayBuffer()));
}).listen(Number(process.env.PORT));
`;

describe('the handler of the guide responds 204 to a genuine event alone, in', () => {
  test.for(['Express', 'Fastify', 'Next.js', 'Hono'])('%s', async (framework, { skip }) => {
    const isInstalled = !['Express', 'Hono'].includes(framework) || existsSync(FRAMEWORKS);
    skip(!isInstalled, `no ${framework}: npm ci --prefix test/sdk/frameworks`);
    const file = await write(framework);
    const isOfWeb = ['Next.js', 'Hono'].includes(framework);
    const server = join(folder, 'web-server.mjs');
    writeFileSync(server, WEB_SERVER);
    const args = isOfWeb ? [server, file] : [file];
    await expectOnlyGenuine(await serve(process.execPath, args, await freePort()));
  });

  test.for(['FastAPI', 'Django'])('%s', async (framework, { skip }) => {
    skip(NO_PYTHON !== null, NO_PYTHON ?? '');
    const name = framework.toLowerCase();
    writeFileSync(join(folder, `${name}_hooks.py`), handlerOf(framework, 'python'));
    writeFileSync(join(folder, 'django_site.py'), DJANGO_SITE);
    const port = await freePort();
    const app = framework === 'FastAPI' ? 'fastapi_hooks:app' : 'django_site:app';
    const args = ['-m', 'uvicorn', app, '--port', String(port), '--log-level', 'error'];
    await expectOnlyGenuine(await serve(PYTHON, args, port));
  });
});

/** Settings of a project, and its application. */
const DJANGO_SITE = `
from django.conf import settings
from django.core.asgi import get_asgi_application

settings.configure(ROOT_URLCONF="django_hooks", ALLOWED_HOSTS=["*"], SECRET_KEY="tests")
app = get_asgi_application()
`;
