import { expect } from 'vitest';
import { AUDITED } from '../../api/audit/actions.ts';
import type { Answer, TestApi } from './api.ts';

/** A call of an operation, which may be repeated after a failure. */
export type Run = () => Promise<Answer<unknown>>;

export type AuditOutage = {
  /** Asserts that an operation changes no row while its entry can't be written, and writes one entry once it can. */
  tryWithout(operation: string, run: Run | undefined): Promise<void>;
};

/** Tables of counts of attempts and uses, which belong to no change. */
const BESIDE = ['sign_in_attempts', 'passkey_challenges', 'ingest_streams'];

/** Lets entries of the audit log fail in this API's database while an operation is tried. */
export async function auditOutage({ stores }: TestApi): Promise<AuditOutage> {
  const { admin, pool } = stores;
  await admin.query(
    `CREATE FUNCTION fail_audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'audit is down'; END $$;
     CREATE TRIGGER audit_down BEFORE INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION fail_audit();
     ALTER TABLE audit_entries DISABLE TRIGGER audit_down`,
  );
  const auditWorks = (works: boolean) =>
    admin.query(`ALTER TABLE audit_entries ${works ? 'DISABLE' : 'ENABLE'} TRIGGER audit_down`);

  /** Returns every row of the database, without times of last uses. */
  async function rows(): Promise<Record<string, string[]>> {
    const { rows: tables } = await pool.query<{ name: string }>(
      `SELECT relname AS name FROM pg_stat_user_tables WHERE schemaname = 'public' AND relname <> ALL ($1)`,
      [BESIDE],
    );
    const all: Record<string, string[]> = {};
    for (const { name } of tables) {
      const found = await pool.query<{ row: string }>(
        `SELECT (to_jsonb(t) - ARRAY['last_used_at', 'last_seen_at', 'counter'])::text AS row FROM ${name} t ORDER BY 1`,
      );
      all[name] = found.rows.map(({ row }) => row);
    }
    return all;
  }

  async function entriesOf(action: string): Promise<number> {
    const { rows: found } = await pool.query<{ entries: number }>(
      'SELECT count(*) AS entries FROM audit_entries WHERE action = $1',
      [action],
    );
    return Number(found[0]?.entries);
  }

  return {
    async tryWithout(operation, run) {
      const action = AUDITED[operation]?.action ?? '';
      if (!run) throw new Error(`${operation} has no call`);
      const before = await rows();
      await auditWorks(false);
      const refused = await run();
      await auditWorks(true);
      expect(refused.status).toBe(500);
      expect(await rows()).toEqual(before);
      const entries = await entriesOf(action);
      const done = await run();
      expect([done.status < 300, done.text]).toEqual([true, done.text]);
      expect(await entriesOf(action)).toBe(entries + 1);
    },
  };
}
