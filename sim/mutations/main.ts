import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { MUTATIONS, type Mutation } from './list.ts';

/**
 * `npm run sim:mutations -- [NAME ...]`: plays each wrong version until an invariant breaks, for 20 seconds of CPU at
 * most, and prints which were found. The exit status is 1 when one was not that is not rare.
 */

const LIMIT_SECONDS = 20;
const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));

type Result = { found: boolean; histories: string; invariant: string; cpuSeconds: number };

const names = process.argv.slice(2);
const chosen = MUTATIONS.filter(({ name }) => names.length === 0 || names.includes(name));
let missed = 0;
let unexpected = 0;
for (const mutation of chosen) {
  const { found, histories, invariant, cpuSeconds } = await play(mutation);
  if (!found) missed += 1;
  if (!found && !mutation.isRare) unexpected += 1;
  const seconds = `${cpuSeconds.toFixed(1)} s`;
  console.log(
    `${found ? 'found ' : 'MISSED'}  ${mutation.name.padEnd(36)} ${histories.padStart(6)} histories ${seconds.padStart(7)}  ${invariant}`,
  );
}
console.log(`${chosen.length - missed} of ${chosen.length} wrong versions found`);
process.exitCode = unexpected === 0 ? 0 : 1;

function play({ name, scenario }: Mutation): Promise<Result> {
  const flags = ['--disable-warning=ExperimentalWarning', MAIN, '--only', scenario, '--mutation', name];
  const child = spawn(process.execPath, [
    ...flags,
    '--seed',
    '1',
    '--seconds',
    String(LIMIT_SECONDS),
    '--brief',
  ]);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  return new Promise((resolve) => {
    child.on('close', () => {
      const [, histories = '?'] = /(\d+) histories/.exec(output) ?? [];
      const [, invariant = output.trim().slice(-200)] = /^BROKEN, seed \d+: ([^:]*)/m.exec(output) ?? [];
      const [, cpu = '0'] = /([\d.]+) s of CPU/.exec(output) ?? [];
      resolve({ found: /^BROKEN/m.test(output), histories, invariant, cpuSeconds: Number(cpu) });
    });
  });
}
