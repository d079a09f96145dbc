import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../../sql/database/pool.ts';

export type DomainColumns = Partial<{
  status: 'pending' | 'verified' | 'failing';
  is_default: boolean;
  root_url: string;
  not_found_url: string;
  expired_url: string;
  apple_app_site_association: string;
  assetlinks: string;
}>;

/** Adds a domain to a workspace by SQL, verified unless it says otherwise. */
export async function makeDomain(
  db: Queryable,
  workspaceId: string,
  domain: string,
  columns: DomainColumns = {},
): Promise<{ id: string; number: number; domain: string }> {
  const id = uuidv7();
  const given = Object.entries({ status: 'verified', ...columns });
  const { rows } = await db.query<{ number: number }>(
    `INSERT INTO domains (id, workspace_id, domain, proof, verified_at${given.map(([name]) => `, ${name}`).join('')})
     VALUES ($1, $2, $3, 'hoplog-verification=test', now()${given.map((_, n) => `, $${n + 4}`).join('')})
     RETURNING number`,
    [id, workspaceId, domain, ...given.map(([, value]) => value)],
  );
  const [made] = rows;
  if (!made) throw new Error(`the domain ${domain} was not inserted`);
  return { id, number: made.number, domain };
}
