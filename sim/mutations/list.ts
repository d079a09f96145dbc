import type { Edit } from '../modules/load.ts';
import { CREDIT_MUTATIONS } from './credits.ts';
import { JOURNAL_MUTATIONS } from './journal.ts';
import { LANE_MUTATIONS } from './lane.ts';
import { LEDGER_MUTATIONS } from './ledger.ts';
import { PERMIT_MUTATIONS } from './permits.ts';
import { WEBHOOK_MUTATIONS } from './webhooks.ts';

/** A wrong version of the product. */
export type WrongVersion = Edit & {
  name: string;
  /** What is wrong, in words. */
  wrong: string;
  /** Twenty seconds are not known to find it: only rare histories may show it. */
  isRare?: true;
};

/** A wrong version that the simulator has to find in a part of the product. */
export type Mutation = WrongVersion & { scenario: string };

const of = (scenario: string, versions: readonly WrongVersion[]): Mutation[] =>
  versions.map((version) => ({ ...version, scenario }));

export const MUTATIONS: readonly Mutation[] = [
  ...of('journal', JOURNAL_MUTATIONS),
  ...of('permits', PERMIT_MUTATIONS),
  ...of('lane', LANE_MUTATIONS),
  ...of('webhooks', WEBHOOK_MUTATIONS),
  ...of('credits', CREDIT_MUTATIONS),
  ...of('ledger', LEDGER_MUTATIONS),
];
