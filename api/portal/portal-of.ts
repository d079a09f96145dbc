import { isPaid } from '../../core/access/plans.ts';
import { AppError } from '../../core/errors.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { programOfCode } from '../../sql/portal/portal-programs.ts';
import { type Program, programById } from '../../sql/referrals/programs.ts';
import { type Workspace, workspaceById } from '../../sql/workspaces/workspaces.ts';

export type OfPortal = { program: Program; workspace: Workspace };

/** Returns the program with this code; null: there is none, or its workspace is suspended or has no paid plan. */
export async function portalOf(db: Queryable, code: string): Promise<OfPortal | null> {
  const found = await programOfCode(db, code);
  if (!found) return null;
  const [program, workspace] = await Promise.all([
    programById(db, found.workspace_id, found.id),
    workspaceById(db, found.workspace_id),
  ]);
  if (!program || !workspace || workspace.suspended_at || !isPaid(workspace)) return null;
  return { program, workspace };
}

/** Whether a program takes applications. */
export const isOpen = ({ portal, terms }: Program): boolean => portal.is_open && terms.status === 'active';

export const noSuchPortal = () => new AppError('not_found', 'no program with this code takes applications');
