import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Long files, the longest first. They start first, so that none of them runs alone at the end. Most of them wait, and
 * others use the cores meanwhile. The last one has few lines, which determine the order of other files, but takes long.
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
/** Files of one process share its Chromium: they run one after the other, and use a whole core. */
const IN_CHROMIUM = ['test/browser/'];
/** Files that mostly wait: for outages, restarts, and due times. Beside browsers no core is idle. */
const WAITING = ['workers/', 'ingest/', 'core/event-log/', 'cli/'];

/** Orders the files of a run. Each worker takes the next file when one is done. */
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

/** Position of both kinds after the long files, evenly mixed. */
const MIXED = LONG.length;

function placeOf(path: string): number {
  const long = LONG.indexOf(path);
  if (long >= 0) return long;
  if (isIn([...IN_CHROMIUM, ...WAITING], path)) return MIXED;
  // Kafka, faults and other services next; files without a service fill the gaps at the end.
  return path.startsWith('test/') ? MIXED + 1 : MIXED + 2;
}

const isIn = (folders: string[], path: string) => folders.some((folder) => path.startsWith(folder));
