import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { Hoplog, type HoplogOptions } from './hoplog.ts';

/** A request that the server got. */
export type Got = { method: string; url: string; headers: IncomingMessage['headers']; body: string };
export type Reply = (response: ServerResponse, got: Got) => void;

/** Returns a reply with JSON. */
export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

/** Returns the API's reply to a call that failed. */
export const failure = (status: number, code: string, headers: Record<string, string> = {}): Reply =>
  json(status, { error: { code, message: `said ${code}`, request_id: 'r-1' } }, headers);

/** Breaks the connection, before the response or in the middle of it. */
export const cut: Reply = (response) => response.destroy();
export const cutInBody: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
  response.write('{"id":', () => response.destroy());
};

/** Starts a server that gives these replies in turn, the last one from then on, and a client of it. */
export async function scripted(
  replies: readonly Reply[],
  options: Partial<HoplogOptions> = {},
): Promise<{ hoplog: Hoplog; got: Got[]; url: string }> {
  const got: Got[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
    got.push(one);
    replies[Math.min(got.length, replies.length) - 1]?.(response, one);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { hoplog: new Hoplog({ key: 'lk_live_x', baseUrl: url, ...options }), got, url };
}
