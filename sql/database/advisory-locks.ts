/**
 * PostgreSQL's advisory locks of this service: a number each, and all of them here, so that no two subjects wait for
 * one another. A number stays what it is, since processes of two releases may run side by side.
 */
export const ADVISORY_LOCKS = {
  /** One process at a time changes the schema. */
  migrations: 7_205_011_973,
  /** One process at a time is given an ordinal for its stream. */
  streams: 7_205_011_974,
  /** One worker at a time, or an erasure, writes roll-ups. */
  rollups: 7_205_011_975,
  /** Those who write what they have converted share it; whoever sets a rate has it alone. */
  currencyRates: 7_205_011_976,
  /** One process at a time looks whether there is a workspace. */
  firstStart: 7_205_011_977,
  /** One worker at a time corrects the times of stored events. */
  clockCorrections: 7_205_011_978,
  /** One worker at a time writes orders to ClickHouse, and none while orders are erased. */
  orderPublications: 7_205_011_979,
} as const;
