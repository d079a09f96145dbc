import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { chooseFault, type Fault } from './faults.ts';
import { createRandom } from './random.ts';
import { reportSoak } from './report.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hoplog-soak-report-'));
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterAll(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

function fault(touches: Fault['touches'], weight: number): Fault {
  const strike = async () => ({ struck: touches, mend: async () => undefined });
  return { name: touches, touches, weight, away: [0, 1], strike };
}
const FAULTS = [fault('ingest', 3), fault('kafka', 1), fault('postgres', 0)];

function choices(seed: number): string[] {
  const random = createRandom(seed);
  return Array.from({ length: 200 }, () => chooseFault(FAULTS, random, null).name);
}

test('the same seed chooses the same faults, another one others, each by its weight', () => {
  expect(choices(7)).toEqual(choices(7));
  expect(choices(7)).not.toEqual(choices(8));
  const counts = Map.groupBy(choices(7), (name) => name);
  expect([...counts.keys()].sort()).toEqual(['ingest', 'kafka']);
  expect(counts.get('ingest')?.length).toBeGreaterThan(counts.get('kafka')?.length ?? 0);
});

test('a second fault touches another part than the first one', () => {
  const random = createRandom(1);
  const [first = fault('api', 1)] = FAULTS;
  for (let n = 0; n < 50; n++) expect(chooseFault(FAULTS, random, first).touches).toBe('kafka');
});

function soaked(
  counted: { lost?: string[]; double?: string[]; missed?: string[] },
  regressions: string[] = [],
) {
  const at = Date.now();
  return reportSoak({
    folder,
    minutes: 1,
    rate: 1,
    seed: 1,
    asked: { answered: new Map([['v', at]]), refused: new Map([[503, 2]]), failed: 0, askedAgain: 0 },
    poller: { seen: new Map([['v', at + 120]]), regressions, polls: () => 1, failures: () => 0 },
    course: { struck: new Map([['kafka', 1]]), quiet: [{ from: at - 1, to: at + 5_000 }], recoveries: [] },
    counted: { lost: [], double: [], missed: [], stored: 1, deadLetters: 0, ...counted },
    watch: { ended: [], mostOnDisk: () => 0 },
  });
}

test('the soak fails when a click is lost, double or missed, and when a watermark goes back', () => {
  expect(soaked({ lost: ['v'] })).toBe(false);
  expect(readFileSync(join(folder, 'soak.txt'), 'utf8')).toMatch(/\nlost +1\n[\s\S]*\nlost: v\n/);
  expect(soaked({ double: ['v'] })).toBe(false);
  expect(soaked({ missed: ['v'] })).toBe(false);
  expect(soaked({}, ['1 after 2'])).toBe(false);
  expect(soaked({})).toBe(true);
  const text = readFileSync(join(folder, 'soak.txt'), 'utf8');
  expect(text).toMatch(/\nredirects refused +2 with 503\n/);
  expect(text).toMatch(/\nvisible after, p99 in quiet times +120 ms \(1 clicks\)\n/);
});
