import type { Scenario } from '../history.ts';
import { startPostgresServer } from '../postgres-server/server.ts';
import { play } from './play.ts';
import { type CreditHistory, decide, type Step } from './steps.ts';
import { words } from './words.ts';

/**
 * Workers deliver the credits of a program, by webhook or to the balances of Stripe's customers, and make the promotion
 * codes of coupons, on the real PostgreSQL, while everything fails.
 */
export const credits: Scenario<Step> = {
  name: 'credits',
  prepare: startPostgresServer,
  decide,
  play: (history, log) => play(history as CreditHistory, log),
  words,
};
