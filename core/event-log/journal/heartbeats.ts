import { type FSWatcher, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_MODE } from './segments.ts';

/** Interval of heartbeats, by which the watermark of a stream without events advances. */
const QUICK_MS = 250;
/** Interval while no reader needs them: each wakes two processes and makes the file system write. */
const REST_MS = 10_000;
/** Heartbeats at the quick interval after an event or a request. */
const QUICK_BEATS = 12;

/** File of a stream that a reader writes to for quick heartbeats. */
const REQUEST_FILE = 'heartbeats-wanted';

/**
 * Requests quick heartbeats from the writer of a stream, for three seconds. Has no effect on a writer that does not
 * rest, or when the stream is gone.
 */
export function requestHeartbeats(directory: string): void {
  try {
    writeFileSync(join(directory, REQUEST_FILE), '1', { flag: 'r+' });
  } catch {
    // The writer has an earlier version, or the disk is broken. In both cases the writer does not rest.
  }
}

/**
 * The schedule of a stream's heartbeats: four a second, and one each ten seconds while the writer rests. It rests three
 * seconds after its last event. A reader that needs its heartbeats, because another stream has events, requests quick
 * ones through a file.
 *
 * A writer rests only once it has noticed a request. Without a reader on this machine (Kafka), or where the system does
 * not notify of changed files, it never does.
 */
export class Heartbeats {
  readonly #beat: () => void;
  readonly #watcher: FSWatcher | null;
  #timer: NodeJS.Timeout | null = null;
  #quickBeats = QUICK_BEATS;
  #hasEvent = false;
  #mayRest = false;
  #isResting = false;

  /** @param beat writes a heartbeat */
  constructor(directory: string, beat: () => void) {
    this.#beat = beat;
    this.#watcher = watchRequests(directory, () => {
      this.#mayRest = true;
      this.#quickBeats = QUICK_BEATS;
      if (this.#isResting) this.#tick();
    });
    this.#schedule();
  }

  get isResting(): boolean {
    return this.#isResting;
  }

  /** Ends the rest, for an event. */
  rouse(): void {
    if (!this.#isResting) return;
    this.#quickBeats = QUICK_BEATS;
    this.#schedule();
  }

  noteEvent(): void {
    this.#hasEvent = true;
  }

  close(): void {
    this.#isResting = false;
    if (this.#timer) clearTimeout(this.#timer);
    this.#watcher?.close();
  }

  readonly #tick = (): void => {
    this.#beat();
    if (this.#hasEvent) this.#quickBeats = QUICK_BEATS;
    else if (this.#quickBeats > 0) this.#quickBeats -= 1;
    this.#hasEvent = false;
    this.#schedule();
  };

  #schedule(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#isResting = this.#mayRest && this.#quickBeats === 0;
    // All streams of a machine rest until the same moment, so that the file system writes for all of them at once.
    const ms = this.#isResting ? REST_MS - (Date.now() % REST_MS) : QUICK_MS;
    this.#timer = setTimeout(this.#tick, ms).unref();
  }
}

/** @returns null where the file cannot be made or watched */
function watchRequests(directory: string, onRequest: () => void): FSWatcher | null {
  const path = join(directory, REQUEST_FILE);
  try {
    writeFileSync(path, '0', { mode: FILE_MODE });
    const watcher = watch(path, { persistent: false }, onRequest);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
