import type { Scenario } from '../history.ts';
import { play } from './play.ts';
import { decide, type LaneHistory, type Step } from './steps.ts';
import { words } from './words.ts';

/** Workers store the partitions of a log in ClickHouse, with their progress in PostgreSQL, while everything fails. */
export const lane: Scenario<Step> = {
  name: 'lane',
  decide,
  play: (history, log) => play(history as LaneHistory, log),
  words,
};
