import { limitsOf } from '../../core/access/plans.ts';
import { AppError } from '../../core/errors.ts';
import type { PoolClient } from '../../sql/database/pool.ts';
import { countLinks } from '../../sql/workspaces/usage.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import { beyondCap } from '../links/create-campaigns.ts';
import type { createEach } from '../links/create-each.ts';

type Outcome = Awaited<ReturnType<typeof createEach>>[number];

/** What the plan has room for in a dry run of a part of a file. */
export type PlanRoom = {
  /** Returns the outcome of a row, or the refusal when its links do not fit beside those of earlier rows. */
  outcomeOf(made: Outcome): Outcome;
};

/**
 * Counts the links that a plan has room for, before the transaction of a dry run makes any. A create in it does not see
 * the links of other parts of the file, whose dry runs were rolled back.
 *
 * @param earlier links of the other parts
 * @returns null without a limit
 */
export async function planRoom(
  tx: PoolClient,
  workspaceId: string,
  earlier: number,
): Promise<PlanRoom | null> {
  const { links: cap } = limitsOf(await lockWorkspace(tx, workspaceId));
  if (cap === null) return null;
  let left = cap - earlier - (await countLinks(tx, workspaceId, cap));
  return {
    outcomeOf(made) {
      if (made instanceof AppError || !made.made) return made;
      if (made.links.length > left) return beyondCap(cap);
      left -= made.links.length;
      return made;
    },
  };
}
