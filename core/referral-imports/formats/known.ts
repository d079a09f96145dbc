import type { ReferralFormat } from '../format.ts';
import { csv } from './csv.ts';
import { firstpromoter } from './firstpromoter.ts';
import { partnerstack } from './partnerstack.ts';
import { rewardful } from './rewardful.ts';
import { tapfiliate } from './tapfiliate.ts';
import { tolt } from './tolt.ts';

/** Every format, by its name on the command line. */
export const REFERRAL_FORMATS: Readonly<Record<string, ReferralFormat>> = {
  rewardful,
  tolt,
  firstpromoter,
  partnerstack,
  tapfiliate,
  csv,
};
