import { parseArgs } from 'node:util';
import { catchUnhandled, replaceGlobals } from './modules/globals.ts';
import { simulateModules } from './modules/load.ts';
import { readEdit } from './mutations/read-edit.ts';

/**
 * `npm run sim -- [--seed N] [--histories M] [--seconds S] [--only NAME] [--verbose] [--brief] [--mutation NAME]`:
 * plays histories of random seeds until one breaks an invariant. See README.md.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    histories: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string' },
    verbose: { type: 'boolean', default: false },
    mutation: { type: 'string' },
    brief: { type: 'boolean', default: false },
  },
});

simulateModules(values.mutation === undefined ? null : readEdit(values.mutation));
// Loaded now, so that the product's files get the simulated modules.
const { prepare, run } = await import('./run.ts');
const scenarios = await prepare(values);
catchUnhandled();
replaceGlobals();
// Ends the real servers too, which wait for it.
process.exit(await run(scenarios, values));
