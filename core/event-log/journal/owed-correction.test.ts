import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryDataDir } from '../../../test/support/journal.ts';
import { correctedTime } from './stream-clock.ts';

const lives = fileURLToPath(new URL('../../../test/support/journal-clock.ts', import.meta.url));
const NODE = [process.execPath, '--disable-warning=ExperimentalWarning'];
const SECOND = 1_000_000;
const HOUR = 3_600;

let dataDir: string;
let remove: () => void;
beforeEach(() => {
  ({ dataDir, remove } = temporaryDataDir());
});
afterEach(() => remove());

type Printed = {
  now: number;
  events: {
    sequence: string;
    ts: number;
    name?: string;
    first: string;
    before: string;
    fromTs: number;
    toTs: number;
    shift: number;
  }[];
};

/** Runs both lives of the journal with a file system of 2 MiB on its directory. */
function runLives(jumpSeconds: number): Printed {
  const script = `mount -t tmpfs -o size=2m tmpfs "$0" && { "$@" killed ${jumpSeconds}; [ $? -eq 137 ] && "$@" restarted; }`;
  const unshare = ['unshare', process.getuid?.() === 0 ? '-m' : '-Urm', 'sh', '-c', script];
  const [program = '', ...args] = [...unshare, dataDir, ...NODE, lives, dataDir];
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 30_000 });
  if (!stdout) throw new Error(`the journal printed nothing: ${stderr}`);
  return JSON.parse(stdout);
}

/** Returns the seconds after the first life's start at which each click happened, by the log alone. */
function happened({ now, events }: Printed): Record<string, number> {
  const corrections = events
    .filter((event) => event.name === undefined)
    .map((event) => ({ ...event, first: BigInt(event.first), before: BigInt(event.before) }));
  return Object.fromEntries(
    events
      .filter((event) => event.name !== undefined)
      .map(({ sequence, ts, name }) => {
        const event = { sequence: BigInt(sequence), ts };
        const right = corrections.reduce(
          (time, correction) => correctedTime(correction, { ...event, ts: time }),
          ts,
        );
        return [name, Math.round((right - now) / SECOND)];
      }),
  );
}

describe('a clock that is set back while the disk is full, and a process that is killed before it can say so', () => {
  test.each([
    { ahead: 'a day, by a jump that was followed', jump: 24 * HOUR, right: { right: 0 }, began: 61 },
    { ahead: 'less than it was wrong for', jump: 20, right: { right: 0 }, began: 61 },
    { ahead: 'since the machine booted', jump: -3 * HOUR, right: {}, began: 0 },
  ])('is corrected after the start: ahead $ahead', ({ jump, right, began }) => {
    const probe = spawnSync('unshare', [process.getuid?.() === 0 ? '-m' : '-Urm', 'true']);
    expect(probe.status).toBe(0);
    expect(happened(runLives(jump))).toEqual({
      ...right,
      'ahead 1': began,
      'ahead 2': began + 30,
      'after the start': 48 * HOUR,
    });
  });
});
