/**
 * Receives webhooks of Hoplog: `node receiver.ts SECRET [PORT]`. Prints each verified event once.
 *
 * SECRET is `secret` in the response of `POST /api/v1/webhooks`. The library implements the Standard Webhooks
 * specification; libraries exist for most languages.
 */
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const [secret = '', port = '4000'] = process.argv.slice(2);
const webhook = new Webhook(secret);
/** Delivery is at least once. In production, store ids in the database transaction that processes the event. */
const seen = new Set<string>();

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    // The signature covers the raw bytes: verify before parsing.
    const body = Buffer.concat(chunks).toString();
    try {
      webhook.verify(body, request.headers as Record<string, string>);
    } catch {
      response.writeHead(400).end('invalid signature');
      return;
    }
    // Respond first, then process: without a 2xx within 20 s the delivery is retried.
    response.writeHead(204).end();
    const event = JSON.parse(body) as { id: string; type: string; data: unknown };
    if (seen.has(event.id)) return;
    seen.add(event.id);
    process.stdout.write(`${event.type} ${JSON.stringify(event.data)}\n`);
  });
});

server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`listening on port ${port}\n`));
