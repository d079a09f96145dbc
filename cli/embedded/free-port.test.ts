import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from './free-port.ts';

const COUNT = 800;
const TELLS = `
  const { freePort } = await import(process.argv[1]);
  const ports = [];
  while (ports.length < ${COUNT}) ports.push(await freePort());
  console.log(JSON.stringify(ports));
  process.stdin.resume();
`;

test('no port is returned twice, even to two processes before anyone listens on it', async () => {
  const other = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--input-type=module',
      '-e',
      TELLS,
      import.meta.resolve('./free-port.ts'),
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  onTestFinished(() => {
    other.kill();
  });
  const [told] = await once(createInterface({ input: other.stdout }), 'line');
  const ports = new Set<number>(JSON.parse(String(told)));
  for (let n = 0; n < COUNT; n++) ports.add(await freePort());
  expect(ports.size).toBe(2 * COUNT);
});

test('the port accepts a listener', async () => {
  const port = await freePort();
  const server = createServer().listen({ port, host: '127.0.0.1', exclusive: true });
  await once(server, 'listening');
  server.close();
});

test('ports that follow one another are reserved together', async () => {
  const first = await freePort('127.0.0.1', 4);
  for (const port of [first, first + 1, first + 2, first + 3]) {
    const socket = createSocket('udp4');
    socket.bind({ port, address: '127.0.0.1', exclusive: true });
    const [error] = await once(socket, 'error');
    expect(error).toMatchObject({ code: 'EADDRINUSE' });
    socket.close();
  }
});
