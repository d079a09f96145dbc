import { createServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../core/settings/config.ts';
import { freePort } from '../embedded/free-port.ts';
import { settlePorts } from './ports.ts';

let server: Server | undefined;

afterEach(() => {
  server?.close();
});

async function takenPort(): Promise<number> {
  const port = await freePort();
  server = createServer();
  await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
  return port;
}

const FREE = { API_PORT: '0', INGEST_PORT: '0', METRICS_PORT: '0' };

test('port 0 selects free, distinct ports', async () => {
  const { api, ingest, metrics } = await settlePorts(readConfig(FREE));
  const all = [api, ingest, ...Object.values(metrics)];
  expect(all.every((port) => port > 0)).toBe(true);
  expect(new Set(all).size).toBe(all.length);
});

test('a port in use is an error that names its setting', async () => {
  const port = await takenPort();
  for (const setting of ['API_PORT', 'INGEST_PORT'] as const) {
    const settled = settlePorts(readConfig({ ...FREE, [setting]: String(port) }));
    await expect(settled).rejects.toThrow(ConfigError);
    await expect(settled).rejects.toThrow(`${setting}="${port}"`);
  }
});

test('two ports in use are both named', async () => {
  const port = await takenPort();
  const other = createServer();
  const second = await freePort();
  await new Promise<void>((resolve) => other.listen(second, '127.0.0.1', resolve));
  try {
    const settled = settlePorts(readConfig({ ...FREE, API_PORT: String(port), INGEST_PORT: String(second) }));
    await expect(settled).rejects.toThrow(`API_PORT="${port}"`);
    const message = await settled.catch((error: Error) => error.message);
    expect(message).toContain(`INGEST_PORT="${second}": port ${second} on 127.0.0.1 is in use already`);
  } finally {
    other.close();
  }
});

test('the children take the ports that follow METRICS_PORT, and one in use names that setting', async () => {
  const port = await takenPort();
  const settled = settlePorts(readConfig({ ...FREE, METRICS_PORT: String(port - 2) }));
  await expect(settled).rejects.toThrow(/METRICS_PORT/);
});

test('an address of another machine is an error that names HOST', async () => {
  const settled = settlePorts(readConfig({ ...FREE, API_PORT: '3999', HOST: '192.0.2.1' }));
  await expect(settled).rejects.toThrow(/HOST="192.0.2.1"/);
});

test.each([
  [{ API_PORT: '13000', INGEST_PORT: '13000' }, 'INGEST_PORT', 'API_PORT="13000"'],
  [{ API_PORT: '9465', METRICS_PORT: '' }, 'METRICS_PORT', 'API_PORT="9465"'],
  [{ API_PORT: '13410', METRICS_PORT: '13409' }, 'METRICS_PORT', 'API_PORT="13410"'],
  [{ INGEST_PORT: '13412', METRICS_PORT: '13409' }, 'METRICS_PORT', 'INGEST_PORT="13412"'],
])('two settings that name one port (%j) are both named', async (given, setting, other) => {
  const settled = settlePorts(readConfig({ ...FREE, ...given }));
  await expect(settled).rejects.toMatchObject({ name: 'ConfigError', setting });
  await expect(settled).rejects.toThrow(other);
});

test('METRICS_PORT without room for the next three ports is rejected', async () => {
  const settled = settlePorts(readConfig({ ...FREE, METRICS_PORT: '65533' }));
  await expect(settled).rejects.toThrow('setting METRICS_PORT="65533": leaves no room');
});

test('a host of another machine is rejected, even if every port is 0', async () => {
  const free = { ...FREE, API_PORT: '0', INGEST_PORT: '0', METRICS_PORT: '0' };
  for (const HOST of ['no-such-host.invalid', '192.0.2.1']) {
    const settled = settlePorts(readConfig({ ...free, HOST }));
    await expect(settled).rejects.toThrow(`setting HOST="${HOST}": must be an address of this machine`);
  }
});
