import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listeningSockets } from '../../test/support/listening-sockets.ts';

const START = new URL('./start.ts', import.meta.url).href;
const CONFIG = new URL('../settings/config.ts', import.meta.url).href;

let dataDir: string;
let child: ChildProcess | undefined;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hoplog-tier-'));
});
afterEach(async () => {
  if (child && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(dataDir, { recursive: true, force: true });
});

/** Longer than any close on a loaded machine. Milliseconds. */
const PATIENT_MS = 60_000;

function run(open: string, env: NodeJS.ProcessEnv = {}, closeLimitMs = PATIENT_MS) {
  const script = `
    import { startTier } from '${START}';
    import { ConfigError } from '${CONFIG}';
    const forever = () => new Promise(() => setInterval(() => {}, 1_000));
    await startTier({
      name: 'test', requires: ['DATABASE_URL'], closeLimitMs: ${closeLimitMs},
      async open(tier) { ${open} },
    });`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script];
  const started = spawn(process.execPath, args, {
    env: { DATA_DIR: dataDir, ENV_FILE: '', METRICS_PORT: '0', DATABASE_URL: 'postgres://x', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child = started;
  const written = { output: '', errors: '' };
  started.stdout.setEncoding('utf8').on('data', (text) => {
    written.output += text;
  });
  started.stderr.setEncoding('utf8').on('data', (text) => {
    written.errors += text;
  });
  const closed = once(started, 'close').then(([code, signal]) => ({ code, signal, ...written }));
  const says = (text: string) => expect.poll(() => written.output).toContain(text);
  return { closed, says, pid: started.pid ?? 0, kill: (signal: NodeJS.Signals) => started.kill(signal) };
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s closes a tier that is ready, once, and exits 0',
  async (signal) => {
    const tier = run(`
    await tier.serveMetrics();
    return { ready: { port: 7 }, close: async () => console.log('closed while', tier.state()) };`);
    await tier.says('{"event":"ready","port":7}\n');
    tier.kill(signal);
    tier.kill(signal);
    const { code, output } = await tier.closed;
    expect(code).toBe(0);
    expect(output).toBe('{"event":"ready","port":7}\nclosed while stopping\n');
  },
);

test('metrics listen on METRICS_HOST, whatever HOST is', async () => {
  const env = { HOST: '127.0.0.2', METRICS_HOST: '127.0.0.3' };
  const tier = run('await tier.serveMetrics(); return { close: async () => {} };', env);
  await tier.says('{"event":"ready"}\n');
  const [socket, ...others] = listeningSockets(tier.pid);
  expect([socket?.address, others]).toEqual([expect.stringMatching(/^127\.0\.0\.3:\d+$/), []]);
  const port = socket?.address.split(':')[1];
  expect((await fetch(`http://127.0.0.3:${port}/metrics`)).status).toBe(200);
  await expect(fetch(`http://127.0.0.2:${port}/metrics`)).rejects.toThrow('fetch failed');
  tier.kill('SIGTERM');
  expect((await tier.closed).code).toBe(0);
});

test('an address of metrics that is not of this machine is an error that names METRICS_HOST', async () => {
  const tier = run('await tier.serveMetrics(); return { close: async () => {} };', {
    METRICS_HOST: '192.0.2.1',
  });
  const { code, errors } = await tier.closed;
  expect(code).toBe(78);
  expect(errors).toContain('setting METRICS_HOST="192.0.2.1": must be an address of this machine');
});

test('a tier at rest collects its garbage', async () => {
  // Without it, V8 collects only a few times a minute.
  const tier = run(`
    const real = setInterval;
    globalThis.setInterval = (work, ms) => real(work, Math.min(ms, 100));
    let collections = 0;
    const count = (seen) => {
      collections += seen.getEntries().filter(({ detail }) => detail.kind === 4).length;
      if (collections > 20) console.log('collected');
    };
    new PerformanceObserver(count).observe({ entryTypes: ['gc'] });
    real(() => {}, 1_000);
    return { close: async () => {} };`);
  await tier.says('collected');
  tier.kill('SIGTERM');
  expect((await tier.closed).code).toBe(0);
});

test('a signal while a tier opens ends it with 0, without a ready line', async () => {
  const tier = run(`console.log('opening'); await forever();`);
  await tier.says('opening\n');
  tier.kill('SIGTERM');
  expect(await tier.closed).toEqual({ code: 0, signal: null, output: 'opening\n', errors: '' });
});

test('a close that hangs ends with 1 after its limit and is logged', async () => {
  const tier = run('await tier.serveMetrics(); return { close: forever };', {}, 100);
  await tier.says('ready');
  tier.kill('SIGTERM');
  const { code, errors } = await tier.closed;
  expect(code).toBe(1);
  expect(errors).toContain('closing took too long; exiting');
});

test('a close that fails ends with 1 and is logged', async () => {
  const tier = run(`
    await tier.serveMetrics();
    return { close: async () => { throw new Error('the disk is gone'); } };`);
  await tier.says('ready');
  tier.kill('SIGTERM');
  const { code, errors } = await tier.closed;
  expect(code).toBe(1);
  expect(errors).toContain('failed to close; exiting');
  expect(errors).toContain('the disk is gone');
});

test('a wrong setting ends with 78 and one line, found before, while or after the tier opens', async () => {
  const wrong = `new ConfigError('KAFKA_TOPIC', 'x', 'is too small')`;
  const line = 'setting KAFKA_TOPIC="x": is too small\n';
  expect(await run('', { LOG_LEVEL: 'loud' }).closed).toMatchObject({ code: 78, output: '' });
  const missing = await run('', { DATABASE_URL: '' }).closed;
  expect(missing).toMatchObject({
    code: 78,
    errors: expect.stringMatching(/^setting DATABASE_URL=""[^\n]*\n$/),
  });
  expect(await run(`throw ${wrong};`).closed).toMatchObject({ code: 78, errors: line });
  const later = run(`setTimeout(() => tier.fail(${wrong})); return { close: async () => {} };`);
  expect(await later.closed).toMatchObject({ code: 78, errors: line });
});

test('any other error ends with 1 and its stack', async () => {
  const { code, errors } = await run(`throw new Error('no memory');`).closed;
  expect(code).toBe(1);
  expect(errors).toMatch(/^Error: no memory\n {4}at /);
});
