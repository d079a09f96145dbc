import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { type UntilOptions, until } from './until.ts';

/** A received delivery. */
export type Received = {
  method: string;
  path: string;
  id: string;
  timestamp: string;
  signature: string;
  headers: Record<string, string>;
  body: string;
  /** Empty where there is no body. */
  event: { id: string; type: string; created_at: string; data: Record<string, unknown> };
};

export type Receiver = {
  url: string;
  received: Received[];
  /** Sets its response from now on; default: 200. */
  answer(with_: (response: ServerResponse, received: Received) => void): void;
  answerWith(status: number, headers?: Record<string, string>, body?: string): void;
  /** Waits until this many have arrived. */
  until(count: number, options?: UntilOptions): Promise<Received[]>;
  close(): Promise<void>;
};

/** Starts a real receiver of webhooks on this machine. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let answer = (response: ServerResponse, _: Received): void => {
    response.writeHead(200).end('ok');
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const headers = request.headers as Record<string, string>;
      const one: Received = {
        method: request.method ?? '',
        path: request.url ?? '',
        id: headers['webhook-id'] ?? '',
        timestamp: headers['webhook-timestamp'] ?? '',
        signature: headers['webhook-signature'] ?? '',
        headers,
        body,
        event: JSON.parse(body || '{}'),
      };
      received.push(one);
      answer(response, one);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answer(with_) {
      answer = with_;
    },
    answerWith(status, headers = {}, body = '') {
      answer = (response) => response.writeHead(status, headers).end(body);
    },
    async until(count, options) {
      await until(
        `${count} deliveries`,
        () => received.length,
        (arrived) => arrived >= count,
        options,
      );
      return received;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Returns whether the published Standard Webhooks library accepts the delivery under this secret. */
export function isGenuine(secret: string, { body, headers }: Received): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
