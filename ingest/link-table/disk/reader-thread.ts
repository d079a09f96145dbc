import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { createLogger } from '../../../core/tier/log.ts';
import { isDamage, type LinksReader, openLinksReader } from './links-file.ts';
import type { FromReader, ReaderData, ToReader } from './messages.ts';

/** Reads links from disk on a thread of its own: visitors whose links are in memory never wait for the disk. */
const { dir, logLevel, bell } = workerData as ReaderData;
const port = parentPort;
if (!port) throw new Error('the links’ file must be read on a thread of its own');

const log = createLogger('link-table', logLevel);
let reader: LinksReader | null = null;
let opened = 0;
/** Limits the log to the first failure. */
let failing = false;

function read(file: number, slugs: string[]): Omit<FromReader, 'query'> {
  const nothing = slugs.map(() => null);
  try {
    if (file !== opened) {
      reader?.close();
      reader = openLinksReader(dir);
      opened = file;
    }
    const records = slugs.map((slug) => reader?.find(slug) ?? null);
    failing = false;
    return { records };
  } catch (error) {
    if (!failing) log.error({ err: error, dir }, 'link table: failed to read the file on disk');
    failing = true;
    return { records: nothing, failed: isDamage(error) ? 'damaged' : 'unreadable' };
  }
}

function handle(message: ToReader): void {
  if (message === 'stop') {
    reader?.close();
    process.exit(0);
  }
  const { query, file, slugs } = message;
  port?.postMessage({ query, ...read(file, slugs) } satisfies FromReader);
}

// Waits for the bell instead of the event loop: half the work for each query.
const rung = new Int32Array(bell);
for (let seen = 0; ; seen = Atomics.load(rung, 0)) {
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) handle(next.message);
  Atomics.wait(rung, 0, seen);
}
