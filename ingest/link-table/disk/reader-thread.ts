import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { createLogger } from '../../../core/tier/log.ts';
import { isDamage, type LinksReader, openLinksReader } from './links-file.ts';
import type { FromReader, ReaderData, ToReader } from './messages.ts';

/** Reads links from disk for visitors, in a thread of its own: those whose links are in memory never wait for a disk. */
const { dir, logLevel, bell } = workerData as ReaderData;
const port = parentPort;
if (!port) throw new Error('the table on disk is read in a thread of its own');

const log = createLogger('link-table', logLevel);
let reader: LinksReader | null = null;
let opened = 0;
/** Said once, not at each visit. */
let failing = false;

function read(file: number, slugs: string[]): Omit<FromReader, 'question'> {
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
    if (!failing) log.error({ err: error, dir }, 'link table: the file on disk can’t be read');
    failing = true;
    return { records: nothing, failed: isDamage(error) ? 'damaged' : 'unreadable' };
  }
}

function answer(message: ToReader): void {
  if (message === 'stop') {
    reader?.close();
    process.exit(0);
  }
  const { question, file, slugs } = message;
  port?.postMessage({ question, ...read(file, slugs) } satisfies FromReader);
}

// Woken by the bell, and not by the event loop: that takes half of the work off each question.
const rung = new Int32Array(bell);
for (let heard = 0; ; heard = Atomics.load(rung, 0)) {
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) answer(next.message);
  Atomics.wait(rung, 0, heard);
}
