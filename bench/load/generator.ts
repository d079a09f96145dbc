import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../harness/bench.ts';
import { isInstalled, programVersion } from '../harness/machine.ts';
import { runToEnd } from '../harness/tier.ts';
import type { LoadPlan, LoadResult } from './plan.ts';
import { driveWithWrk } from './wrk.ts';

let plans = 0;

/** Runs our own generator (`drive.ts`) to its end, in its own process. @param core default: any */
export function drive(bench: Bench, plan: LoadPlan, core?: string): Promise<LoadResult> {
  const file = join(bench.directory, `plan-${plans++}.json`);
  writeFileSync(file, JSON.stringify(plan));
  return runToEnd<LoadResult>(bench, {
    script: 'bench/load/drive.ts',
    args: [file],
    ...(core === undefined ? {} : { cores: core }),
  });
}

/** Runs a closed-loop generator: `wrk` if installed, else our own. */
export function quickestGenerator(bench: Bench): {
  version: string;
  drive(plan: LoadPlan, core: string): Promise<LoadResult>;
} {
  if (isInstalled('wrk')) {
    return {
      version: programVersion('wrk', ['-v']).replace(/ Copyright.*/, ''),
      drive: driveWithWrk,
    };
  }
  return {
    version: 'bench/load/drive.ts (wrk is not installed)',
    drive: (plan, core) => drive(bench, plan, core),
  };
}
