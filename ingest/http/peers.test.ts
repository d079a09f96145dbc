import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type KeptConnection, keepConnection } from '../../test/support/kept-connection.ts';
import { addressText } from './addresses.ts';
import { createClientAddresses } from './client-address.ts';
import { listen, loadUws } from './uws.ts';

const TRUSTED = ['127.0.0.1', '127.0.0.2'];
const closers: (() => void)[] = [];
let direct: Awaited<ReturnType<typeof serve>>;
let behindProxies: typeof direct;

/** A server that responds with the client's address. */
async function serve(trusted: string[]) {
  const uws = await loadUws();
  const app = uws.App();
  const client = createClientAddresses(app, trusted).byFirstLine;
  const served = { url: '', asked: 0 };
  app.get('/*', (res, req) => {
    const counted = {
      getRemoteAddress() {
        served.asked += 1;
        return res.getRemoteAddress();
      },
    };
    res.end(addressText(client(req, counted as typeof res)));
  });
  const listening = await listen(app, '127.0.0.1', 0, false);
  served.url = `http://127.0.0.1:${uws.us_socket_local_port(listening as unknown as Parameters<typeof uws.us_socket_local_port>[0])}`;
  closers.push(() => app.close());
  return served;
}

beforeAll(async () => {
  direct = await serve([]);
  behindProxies = await serve(TRUSTED);
});
afterAll(() => {
  for (const close of closers) close();
});

const ask = async ({ ask }: KeptConnection, forwarded?: string) =>
  (await ask('GET', '/', '', forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded })).body;

test('a single peer is read once, until another connects, and again when all have gone', async () => {
  const one = await keepConnection(direct.url, 'x', '127.0.0.1');
  const same = await keepConnection(direct.url, 'x', '127.0.0.1');
  for (const connection of [one, same, one]) expect(await ask(connection)).toBe('127.0.0.1');
  expect(direct.asked).toBe(0);

  const other = await keepConnection(direct.url, 'x', '127.0.0.7');
  expect(await ask(other)).toBe('127.0.0.7');
  expect(await ask(one)).toBe('127.0.0.1');
  expect(direct.asked).toBe(2);

  for (const connection of [one, same, other]) connection.close();
  await Promise.all([one, same, other].map(({ ended }) => ended));
  const last = await keepConnection(direct.url, 'x', '127.0.0.9');
  expect(await ask(last)).toBe('127.0.0.9');
  last.close();
});

test('with several trusted proxies the peer is read only where they name no client', async () => {
  const proxies = await Promise.all(TRUSTED.map((from) => keepConnection(behindProxies.url, 'x', from)));
  for (const proxy of proxies) expect(await ask(proxy, '203.0.113.9, 198.51.100.7')).toBe('198.51.100.7');
  expect(behindProxies.asked).toBe(0);
  expect(await Promise.all(proxies.map((proxy) => ask(proxy)))).toEqual(TRUSTED);
  expect(await Promise.all(proxies.map((proxy) => ask(proxy, 'nonsense')))).toEqual(TRUSTED);
  for (const proxy of proxies) proxy.close();
});

/** The address that each connection's next request has. */
function clientOf(peer: string, forwarded: string | undefined, trusted: string[]): string {
  return trusted.includes(peer) && forwarded !== undefined ? forwarded : peer;
}

const PEERS = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
const step = fc.record({
  what: fc.constantFrom('open', 'ask', 'ask', 'ask', 'close', 'close'),
  peer: fc.constantFrom(...PEERS),
  forwarded: fc.constantFrom(undefined, '198.51.100.7'),
  which: fc.nat(),
});

test('each request has the address of its own peer', async () => {
  for (const [server, trusted] of [[direct, []] as const, [behindProxies, TRUSTED] as const]) {
    const before = server.asked;
    let requests = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
        const open: { peer: string; connection: KeptConnection }[] = [];
        for (const { what, peer, forwarded, which } of steps) {
          if (what === 'open' || open.length === 0) {
            open.push({ peer, connection: await keepConnection(server.url, 'x', peer) });
            continue;
          }
          const [one] = what === 'ask' ? [open[which % open.length]] : open.splice(which % open.length, 1);
          if (one === undefined) throw new Error('nothing is open');
          if (what === 'close') {
            one.connection.close();
            await one.connection.ended;
            continue;
          }
          requests += 1;
          expect(await ask(one.connection, forwarded)).toBe(clientOf(one.peer, forwarded, [...trusted]));
        }
        for (const { connection } of open) connection.close();
        await Promise.all(open.map(({ connection }) => connection.ended));
      }),
      { numRuns: 60 },
    );
    // Both cases occurred.
    expect(server.asked).toBeGreaterThan(before);
    expect(server.asked - before).toBeLessThan(requests);
  }
});
