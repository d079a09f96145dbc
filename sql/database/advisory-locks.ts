import type { Queryable } from './pool.ts';

/**
 * PostgreSQL's advisory locks of this service, one number each. All are listed here, so that no two subjects share one.
 * They belong to transactions, except that of migrations: behind a pooler, a session's lock would pass to another
 * client. Numbers never change: processes of two releases may run side by side.
 */
export const ADVISORY_LOCKS = {
  /** One process at a time changes the schema. */
  migrations: 7_205_011_973,
  /** One process at a time registers a stream. */
  streams: 7_205_011_974,
  /** Shared by transactions that store converted amounts; exclusive for a change of a rate. */
  currencyRates: 7_205_011_976,
  /** One process at a time creates the first workspace. */
  firstStart: 7_205_011_977,
  /** One worker at a time writes orders to ClickHouse, and none while orders are erased. */
  orderPublications: 7_205_011_979,
  /** Not a lock: the seed of the locks of a referee's mailbox, device, visitor and user. */
  referees: 7_205_011_981,
  /** Seed of one lock for each host name: one check of its proof is recorded at a time. */
  domains: 7_205_011_982,
  /** Seed of one lock for each account at a billing provider: one transaction at a time joins its payments. */
  providerAccounts: 7_205_011_983,
  /** Seed of one lock for each workspace: one transaction at a time creates or changes its payout files. */
  payouts: 7_205_011_984,
  /** Seed of one lock for each network address: one proof of work of it is spent at a time. */
  challenges: 7_205_011_985,
  /** Seed of one lock for each address: one link to sign in to the portal is made for it at a time. */
  portalSignIns: 7_205_011_986,
  /** Seed of one lock for each workspace: one transaction at a time extends the hash chain of its ledger. */
  ledgerChain: 7_205_011_980,
} as const;

/**
 * Takes one of the locks of a seed until the transaction ends.
 *
 * @param seed of {@link ADVISORY_LOCKS}
 * @param name of what is locked
 */
export async function lockNamed(
  tx: Queryable,
  seed: keyof typeof ADVISORY_LOCKS,
  name: string,
): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, $2))', [name, ADVISORY_LOCKS[seed]]);
}
