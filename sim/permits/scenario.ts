import type { Scenario } from '../history.ts';
import { play } from './play.ts';
import { decide, type PermitHistory, type Step, words } from './steps.ts';

/** Ingest processes share the permits of links with `max_clicks`, over a network and with disks that fail. */
export const permits: Scenario<Step> = {
  name: 'permits',
  decide,
  play: (history, log) => play(history as PermitHistory, log),
  words,
};
