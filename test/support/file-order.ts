import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Long files that mostly wait: they start first, so that others use the cores meanwhile and none of them is
 * left over at the end.
 */
const WAITING = [
  'test/kafka/outages.test.ts',
  'workers/webhooks/retrying.test.ts',
  'workers/webhooks/webhook-states.test.ts',
  'test/faults/kill-everything.test.ts',
  'test/start.test.ts',
  'test/kafka/cluster.test.ts',
  'test/referrals/histories.test.ts',
  'workers/main.test.ts',
  'ingest/max-clicks/max-clicks.test.ts',
  'api/main.test.ts',
  'api/live-clicks/ends.test.ts',
  'test/referrals/late-clicks.test.ts',
];
/** Folders whose files share a service, and most a Chromium, within one process: they run one after the other. */
const SHARING = ['test/browser/', 'test/webhooks.test.ts', 'test/docs/quickstart.test.ts'];

/** Each worker takes the next file of this order when one is done. */
export default class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const places = new Map(sorted.map((file) => [file, this.#placeOf(file)]));
    return sorted.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
  }

  #placeOf({ moduleId }: TestSpecification): number {
    const path = relative(this.ctx.config.root, moduleId);
    const waiting = WAITING.indexOf(path);
    if (waiting >= 0) return waiting;
    if (SHARING.some((one) => path.startsWith(one))) return WAITING.length;
    // Kafka, faults and other services after the long files; files without a service fill the gaps at the end.
    return path.startsWith('test/') ? WAITING.length + 1 : WAITING.length + 2;
  }
}
