import type { HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { headerName } from '../../ingest/http/header-names.ts';
import { listen, loadUws } from '../../ingest/http/uws.ts';

/**
 * Process with the minimum cost of a redirect by uWebSockets.js. It reads the same fields as the product behind a
 * proxy, and responds at the end of the event loop turn, but writes nothing.
 */

const READ = [
  'user-agent',
  'referer',
  'cookie',
  'sec-gpc',
  'sec-purpose',
  'purpose',
  'x-purpose',
  'x-moz',
  'x-forwarded-for',
].map(headerName);
const ANSWER = Buffer.from(
  '302 Found\r\nLocation: https://shop.example.com/products/1?utm_source=facebook&utm_medium=social&utm_campaign=spring' +
    '&_vid=00000000-0000-8000-8000-000000000000\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer-when-downgrade' +
    '\r\nSet-Cookie: _vid=00000000-0000-4000-8000-000000000000; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax',
);

const uws = await loadUws();
const app = uws.App();
let waiting: (() => void)[] = [];
let read = 0;

function answerAll(): void {
  const answers = waiting;
  waiting = [];
  for (const answer of answers) answer();
}

function answerLater(res: HttpResponse): void {
  let gone = false;
  res.onAborted(() => {
    gone = true;
  });
  if (waiting.length === 0) setImmediate(answerAll);
  waiting.push(() => {
    if (gone) return;
    res.cork(() => {
      res.writeStatus(ANSWER);
      res.end();
    });
  });
}

app.get('/*', (res, req) => {
  read += req.getUrl().length + (req.getQuery() ?? '').length;
  for (const name of READ) read += req.getHeader(name).length;
  answerLater(res);
});

const listening: us_listen_socket | null = await listen(app, '127.0.0.1', 0, false);
if (listening === null) throw new Error('no free port');
const port = uws.us_socket_local_port(listening as Parameters<typeof uws.us_socket_local_port>[0]);
process.stdout.write(`${JSON.stringify({ port })}\n`);
process.on('SIGTERM', () => process.exit(read > 0 ? 0 : 1));
