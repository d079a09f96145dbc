import { hideLinks, hideVisitor } from '../../clickhouse/erasures.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { openErasure } from '../../sql/erasure/erasures.ts';
import { missedOf, missRollUps, recordRepaired } from '../../sql/event-log/replica-repairs.ts';
import { holdPublications } from '../../sql/orders/publications.ts';

const CHUNK = 20;

/**
 * Hides erased visitors and links in a replica that has missed it, as for the other ones when it was requested. Their
 * erasures are not done before this.
 *
 * @returns whether it may have missed more
 */
export async function repairErasures(pool: Pool, { name, clickhouse }: Replica): Promise<boolean> {
  const missed = await missedOf(pool, name, 'erasures', CHUNK);
  for (const one of missed) {
    const [workspaceId = '', kind, targetId = ''] = one.subject.split('/');
    const erased = { workspaceId, targetId };
    if (kind === 'link') await hideLinks(clickhouse, [erased]);
    else {
      await inTransaction(pool, async (tx) => {
        const erasure = await openErasure(tx, { ...erased, kind: 'visitor' });
        if (!erasure) return;
        await holdPublications(tx);
        await hideVisitor(clickhouse, erased, erasure.names, erasure.requestedAt);
        await missRollUps(tx, name);
      });
    }
    await recordRepaired(pool, name, 'erasures', [one]);
  }
  return missed.length === CHUNK;
}
