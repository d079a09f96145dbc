import { AppError } from '../../core/errors.ts';
import type { RowLink } from '../../core/link-imports/links-of-row.ts';
import type { PoolClient } from '../../sql/database/pool.ts';
import type { LinkDomain } from '../../sql/domains/domains.ts';
import { folderNamed, insertFolder } from '../../sql/links/folders.ts';
import type { DomainRules } from '../domains/service.ts';
import type { BulkRow } from '../links/create-each.ts';
import { waitingDomain } from './waiting-domain.ts';

/**
 * Puts the links of a batch that wait for a proof on their domains, and adds those that the workspace does not have.
 *
 * @param checked the request of each link, or its error
 */
export async function putOnWaiting(
  tx: PoolClient,
  workspaceId: string,
  { pending, checked }: { pending: readonly RowLink[]; checked: BulkRow[] },
  rules: DomainRules,
): Promise<void> {
  const found = new Map<string, LinkDomain | AppError>();
  for (const [nth, { unproven }] of pending.entries()) {
    const row = checked[nth];
    if (unproven === null || row === undefined || row instanceof AppError) continue;
    const domain = found.get(unproven) ?? (await waitingDomain(tx, workspaceId, unproven, rules));
    found.set(unproven, domain);
    checked[nth] = domain instanceof AppError ? domain : { ...row, domain };
  }
}

/** Puts new campaigns in the folders that their rows name, and makes those that the workspace does not have. */
export async function putInFolders(
  tx: PoolClient,
  workspaceId: string,
  open: { link: RowLink; row: BulkRow }[],
): Promise<void> {
  const found = new Map<string, string>();
  for (const one of open) {
    const { row } = one;
    const { folder } = one.link;
    if (folder === null || row instanceof AppError || row.campaign.kind !== 'new') continue;
    if (row.campaign.folderId !== null) continue;
    const id =
      found.get(folder) ??
      ((await folderNamed(tx, workspaceId, folder)) ?? (await insertFolder(tx, workspaceId, folder))).id;
    found.set(folder, id);
    one.row = { ...row, campaign: { ...row.campaign, folderId: id } };
  }
}
