import type { Scenario } from '../history.ts';
import { play } from './play.ts';
import { decide, type JournalHistory, type Step, words } from './steps.ts';

/** An ingest process writes its journal, and a worker reads and truncates it, on a machine where everything fails. */
export const journal: Scenario<Step> = {
  name: 'journal',
  decide,
  play: (history, log) => play(history as JournalHistory, log),
  words,
};
