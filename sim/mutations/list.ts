import type { Edit } from '../modules/load.ts';
import { JOURNAL_MUTATIONS } from './journal.ts';

/** A wrong version of the product, which the simulator has to find. */
export type Mutation = Edit & {
  name: string;
  /** What is wrong, in words. */
  wrong: string;
  /** Twenty seconds do not find it: only rare histories show it. */
  isRare?: true;
};

export const MUTATIONS: readonly Mutation[] = JOURNAL_MUTATIONS;
