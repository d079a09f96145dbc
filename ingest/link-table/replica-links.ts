import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from '../../sql/database/pool.ts';
import { FIRST_ID } from '../../sql/links/link-table.ts';
import {
  linksOfReplicaAfter,
  putReplicaMarker,
  removeReplicaMarker,
} from '../../sql/links/replica-markers.ts';
import type { OpenEarlierLinks } from './earlier-links.ts';
import { encodeLink } from './records.ts';

/** Longest time that a replica may be behind when it is first read. Milliseconds. */
const LAG_MS = 30_000;
const ASK_EVERY_MS = 100;

/**
 * Reads links from a replica of PostgreSQL. A marker is put on the primary, and every page must come from a server that
 * has it: a replica that was behind is waited for, and one that goes away or back is left.
 *
 * @param given.lagMs longest wait for a replica that is behind, milliseconds
 */
export function fromReplica(given: {
  primary: Pool;
  replica: Pool;
  page: number;
  lagMs?: number;
}): OpenEarlierLinks {
  const { primary, replica, page, lagMs = LAG_MS } = given;
  return async () => {
    const marker = await putReplicaMarker(primary);
    const openedAt = performance.now();
    let isBehind = true;
    let after: string | null = FIRST_ID;
    return {
      name: 'replica',
      cursor: null,
      async next() {
        if (after === null) return null;
        const found = await linksOfReplicaAfter(replica, { marker, id: after, limit: page });
        if (found === null) {
          if (!isBehind) throw new Error('the replica has gone back, or is another server than before');
          const waited = performance.now() - openedAt;
          if (waited > lagMs) throw new Error(`the replica is more than ${lagMs / 1_000} s behind`);
          await delay(ASK_EVERY_MS);
          return [];
        }
        isBehind = false;
        after = found.next;
        return found.links.map(encodeLink);
      },
      after: () => after ?? FIRST_ID,
      close: () => removeReplicaMarker(primary, marker).catch(() => {}), // the next one removes it
    };
  };
}
