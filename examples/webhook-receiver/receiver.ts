/**
 * A receiver of Hoplog's webhooks: `node receiver.ts SECRET [PORT]`. Prints each event that is genuine, once.
 *
 * SECRET is what `POST /api/v1/webhooks` answered as `secret`. The library is the published one of the Standard Webhooks
 * specification; there are others for most languages.
 */
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const [secret = '', port = '4000'] = process.argv.slice(2);
const webhook = new Webhook(secret);
/** Deliveries come at least once. Yours belong in a database, beside what they cause. */
const seen = new Set<string>();

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    // The signature is over the very bytes that came: verify before anything parses them.
    const body = Buffer.concat(chunks).toString();
    try {
      webhook.verify(body, request.headers as Record<string, string>);
    } catch {
      response.writeHead(400).end('not genuine');
      return;
    }
    // Answer quickly, work afterwards: without a 2xx within 20 seconds it comes again.
    response.writeHead(204).end();
    const event = JSON.parse(body) as { id: string; type: string; data: unknown };
    if (seen.has(event.id)) return;
    seen.add(event.id);
    process.stdout.write(`${event.type} ${JSON.stringify(event.data)}\n`);
  });
});

server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`listening on port ${port}\n`));
