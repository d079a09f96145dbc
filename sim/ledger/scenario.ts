import type { Scenario } from '../history.ts';
import { startPostgresServer } from '../postgres-server/server.ts';
import { play } from './play.ts';
import { decide, type LedgerHistory, type Step } from './steps.ts';
import { words } from './words.ts';

/**
 * Clients of a referral program call the API, and call again what has no answer, on the real PostgreSQL, while
 * everything fails.
 */
export const ledger: Scenario<Step> = {
  name: 'ledger',
  prepare: startPostgresServer,
  decide,
  play: (history, log) => play(history as LedgerHistory, log),
  words,
};
