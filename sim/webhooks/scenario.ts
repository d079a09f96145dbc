import type { Scenario } from '../history.ts';
import { startPostgresServer } from '../postgres-server/server.ts';
import { play } from './play.ts';
import { decide, type Step, type WebhookHistory } from './steps.ts';
import { words } from './words.ts';

/**
 * Workers deliver the events of a shop and the clicks of a log to receivers, on the real PostgreSQL, while everything
 * fails.
 */
export const webhooks: Scenario<Step> = {
  name: 'webhooks',
  prepare: startPostgresServer,
  decide,
  play: (history, log) => play(history as WebhookHistory, log),
  words,
};
