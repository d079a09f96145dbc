/**
 * Smoke test: runs `npm start` with free ports and an empty DATA_DIR, creates a link through the API, follows it, reads
 * the click, and stops the service. Exits with 1 on any failure.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { follow, makeLink, untilClicks } from '../test/support/first-click.ts';
import type { Ready } from '../test/support/service.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'hoplog-smoke-'));
const say = (text: string) => process.stdout.write(`smoke: ${text}\n`);
const service = spawn('npm', ['start', '--silent'], {
  env: {
    ...process.env,
    ENV_FILE: '',
    DATA_DIR: join(dataDir, 'data'),
    API_PORT: '0',
    INGEST_PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'warn',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = once(service, 'exit') as Promise<[number | null]>;
try {
  const ready = await readyLine();
  if (!ready.demo) throw new Error('the first start printed no keys');
  say(`ready: API ${ready.api_url}, short links ${ready.short_url}`);
  const key = ready.demo.secret_key;
  const link = await makeLink(ready, key, 'smoke');
  const answer = await follow(link);
  if (answer.status !== 302) throw new Error(`${link.short_url} answered ${answer.status}`);
  say(`${link.short_url} redirects to ${answer.location}`);
  const [click] = await untilClicks(ready, key, link, 1);
  say(`the click is visible: ${JSON.stringify(click)}`);
  service.kill('SIGTERM');
  const [status] = await ended;
  if (status !== 0) throw new Error(`it ended with exit status ${status}`);
  say('stopped in order');
} catch (error) {
  process.stderr.write(`smoke: FAILED: ${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 1;
  service.kill('SIGTERM');
  await ended;
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}

async function readyLine(): Promise<Ready> {
  for await (const line of createInterface(service.stdout)) {
    if (line.includes('"event":"ready"')) return JSON.parse(line) as Ready;
  }
  throw new Error('npm start ended before it was ready');
}
