import { HOSTILE_BODIES } from './bodies.ts';

/** A process that sends the bodies of the benchmark, so that its own work is not the loop's. */

export type ToSend = { name: string; url: string; key: string; round: number };
export type Answered = { status: number; bytes: number; milliseconds: number };

const texts = new Map<string, Buffer>();

process.on('message', async ({ name, url, key, round }: ToSend) => {
  const wanted = HOSTILE_BODIES.find((body) => body.name === name && url.endsWith(body.path));
  if (!wanted) throw new Error(`no body ${name}`);
  const text = texts.get(`${name} ${url}`) ?? Buffer.from(wanted.text(round));
  texts.set(`${name} ${url}`, text);
  const began = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(wanted.hasIdempotencyKey && { 'idempotency-key': `${name} ${round}`.replace(/[^ -~]/g, '') }),
    },
    body: text,
  }).catch((error: unknown) => ({ status: 0, arrayBuffer: async () => new ArrayBuffer(0), error }));
  await response.arrayBuffer();
  const answered: Answered = {
    status: response.status,
    bytes: text.length,
    milliseconds: performance.now() - began,
  };
  process.send?.(answered);
});
