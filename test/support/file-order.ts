import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Long files, the longest first: they start first, so that none of them is left over at the end. Most wait, and others
 * use the cores meanwhile. The last one is short in lines, by which the other files are ordered, and not in time.
 */
const LONG = [
  'test/connections/stories.test.ts',
  'test/documented-edges.test.ts',
  'test/clock/wrong-clock.test.ts',
  'test/referrals/histories.test.ts',
  'test/start.test.ts',
  'test/backup.test.ts',
  'test/chart/pods.test.ts',
  'test/warehouse/warehouse.test.ts',
  'test/fuzz/schemathesis.test.ts',
  'test/connections/providers.test.ts',
  'test/deploy/image.test.ts',
  'test/kafka/cluster.test.ts',
  'test/faults/kill-everything.test.ts',
  'test/faults/full-disk.test.ts',
  'test/browser/console/dashboard.test.ts',
  'test/kafka/outages.test.ts',
  'test/kafka/watermark.test.ts',
  'test/browser/console/webhooks.test.ts',
  'test/deploy/deployment.test.ts',
  'test/damaged-parts.test.ts',
  'test/cli/usage.test.ts',
  'workers/webhooks/isolation.test.ts',
  'test/import-links.test.ts',
  'clickhouse/rollups/roll-up.test.ts',
  'api/live-clicks/ends.test.ts',
];
/** Files of one process share its Chromium: they run one after the other, and keep a core busy. */
const IN_CHROMIUM = ['test/browser/'];
/** Their files wait most of their time: for outages, restarts, and what is due later. Beside browsers no core is idle. */
const WAITING = ['workers/', 'ingest/', 'core/event-log/', 'cli/'];

/** Each worker takes the next file of this order when one is done. */
export default class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const pathOf = ({ moduleId }: TestSpecification) => relative(this.ctx.config.root, moduleId);
    const places = new Map(sorted.map((file) => [file, placeOf(pathOf(file))]));
    for (const folders of [IN_CHROMIUM, WAITING]) {
      const mixed = sorted.filter((file) => places.get(file) === MIXED && isIn(folders, pathOf(file)));
      for (const [nth, file] of mixed.entries()) places.set(file, MIXED + nth / mixed.length);
    }
    return sorted.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
  }
}

/** Place of both kinds after the long files, evenly mixed. */
const MIXED = LONG.length;

function placeOf(path: string): number {
  const long = LONG.indexOf(path);
  if (long >= 0) return long;
  if (isIn([...IN_CHROMIUM, ...WAITING], path)) return MIXED;
  // Kafka, faults and other services next; files without a service fill the gaps at the end.
  return path.startsWith('test/') ? MIXED + 1 : MIXED + 2;
}

const isIn = (folders: string[], path: string) => folders.some((folder) => path.startsWith(folder));
