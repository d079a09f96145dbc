import { createHmac, randomBytes } from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { shareSalts } from '../../sql/database/visitor-salts.ts';

/**
 * Visitors of workspaces without cookies. An id tells visitors apart within a UTC day, and nothing about them after it.
 */
export type DailyVisitors = {
  /** Returns the visitor's id, the 16 bytes of a UUID of version 8. */
  visitorOf(workspaceId: Uint8Array, address: Uint8Array, userAgent: string): Uint8Array;
  /** Resolves when nothing is being shared any more. */
  close(): Promise<void>;
};

const SALT_BYTES = 32;
const DAY_MS = 86_400_000;
const SHARE_EVERY_MS = 600_000;
const RETRY_MS = 10_000;
/** The file has this size always, so that writing it overwrites the former salts. */
const FILE_BYTES = 256;

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/**
 * Opens the salts of today and tomorrow, which all processes of the deployment share through PostgreSQL. With
 * PostgreSQL down they come from a file, and a missing day's salt is generated here. Once its day is over, a salt is
 * removed from memory, from the file, which is overwritten in place, and from PostgreSQL.
 *
 * @param path of the file; readable by this user only
 * @param clock milliseconds since the epoch; for tests
 */
export async function openDailyVisitors(given: {
  pool: Pool;
  path: string;
  log: Logger;
  clock?: () => number;
}): Promise<DailyVisitors> {
  const { pool, path, log, clock = Date.now } = given;
  let salts = withDays(await readSalts(path), clock());
  let today = dayOf(clock());
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;
  let isFailing = false;

  /** Shares the salts of today and tomorrow, and writes them. */
  async function shareNow(): Promise<void> {
    if (isClosed) return;
    salts = withDays(salts, clock());
    try {
      // Runs before the query, because yesterday's salt must go even when PostgreSQL is down.
      await writeSalts(path, salts);
      const shared = await shareSalts(pool, salts);
      for (const [day, salt] of shared) if (salts.has(day)) salts.set(day, Buffer.from(salt));
      await writeSalts(path, salts);
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'failed to share the salts of visitors; will retry');
      isFailing = true;
    }
  }

  let sharing = Promise.resolve();
  function share(): Promise<void> {
    sharing = sharing.then(shareNow);
    return sharing;
  }

  function schedule(): void {
    if (isClosed) return;
    const now = clock();
    const untilTomorrow = DAY_MS - (now % DAY_MS) + 50;
    const pause = Math.min(isFailing ? RETRY_MS : SHARE_EVERY_MS, untilTomorrow);
    timer = setTimeout(() => void share().then(schedule), pause);
    timer.unref();
  }

  await share();
  schedule();

  return {
    visitorOf(workspaceId, address, userAgent) {
      const day = dayOf(clock());
      if (day !== today) {
        today = day;
        salts = withDays(salts, clock());
        void share();
      }
      const salt = salts.get(day);
      if (salt === undefined) throw new Error(`no salt of ${day}`);
      const hash = createHmac('sha256', salt).update(workspaceId).update(address).update(userAgent).digest();
      const id = hash.subarray(0, 16);
      id[6] = ((id[6] ?? 0) & 0x0f) | 0x80;
      id[8] = ((id[8] ?? 0) & 0x3f) | 0x80;
      return id;
    },
    close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      return sharing;
    },
  };
}

/** Returns the salts of today and tomorrow: those that are known, and new ones. */
function withDays(known: ReadonlyMap<string, Buffer>, now: number): Map<string, Buffer> {
  const days = [dayOf(now), dayOf(now + DAY_MS)];
  return new Map(days.map((day) => [day, known.get(day) ?? randomBytes(SALT_BYTES)]));
}

async function readSalts(path: string): Promise<Map<string, Buffer>> {
  const text = await readFile(path, 'latin1').catch(() => '');
  const lines = text.trimEnd().split('\n');
  return new Map(
    lines.flatMap((line) => {
      const [, day, salt] = /^(\d{4}-\d{2}-\d{2}) ([0-9a-f]{64})$/.exec(line) ?? [];
      return day && salt ? [[day, Buffer.from(salt, 'hex')] as const] : [];
    }),
  );
}

/** Overwrites the file in place: a new file would leave the former salts in free blocks of the disk. */
async function writeSalts(path: string, salts: ReadonlyMap<string, Buffer>): Promise<void> {
  const text = [...salts].map(([day, salt]) => `${day} ${salt.toString('hex')}\n`).join('');
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'r+').catch(() => open(path, 'w+', 0o600));
  try {
    await file.write(text.padEnd(FILE_BYTES, '\n'), 0, 'latin1');
    await file.datasync();
  } finally {
    await file.close();
  }
}
