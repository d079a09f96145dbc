import type { History, Outcome, Scenario } from './history.ts';
import { groupingPrinter } from './print.ts';
import { loadScenario, SCENARIOS } from './scenarios.ts';
import { shorten } from './shorten.ts';

const realNow = process.hrtime.bigint.bind(process.hrtime);
/** Seconds of CPU of this process: a limit in them means the same on a loaded machine. */
const cpuSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

type Values = {
  seed?: string | undefined;
  histories?: string | undefined;
  seconds?: string | undefined;
  only?: string | undefined;
  verbose?: boolean | undefined;
  /** A broken history is neither shortened nor played again. */
  brief?: boolean | undefined;
};

/**
 * Loads the parts that the command line asks for, and starts what they need of the real world. Call it before the
 * globals are replaced.
 */
export async function prepare({ only }: Pick<Values, 'only'>): Promise<Scenario<unknown>[]> {
  const scenarios = await Promise.all((only === undefined ? SCENARIOS : [only]).map(loadScenario));
  for (const scenario of scenarios) await scenario.prepare?.();
  return scenarios;
}

/** Plays histories as the command line asks. @returns the exit status: 1 when one broke an invariant */
export async function run(scenarios: readonly Scenario<unknown>[], values: Values): Promise<number> {
  const seed = values.seed === undefined ? Number(realNow() % 1_000_000_000n) : numberOf('seed', values.seed);
  const limits = {
    histories:
      values.histories === undefined ? Number.POSITIVE_INFINITY : numberOf('histories', values.histories),
    seconds: values.seconds === undefined ? Number.POSITIVE_INFINITY : numberOf('seconds', values.seconds),
  };
  if (values.histories === undefined && values.seconds === undefined)
    limits.histories = values.seed ? 1 : 1_000;
  const { print, flush } = groupingPrinter((line) => process.stdout.write(`${line}\n`));
  for (const scenario of scenarios) {
    const broken = await playAll(
      scenario,
      { seed, ...limits, verbose: values.verbose === true, brief: values.brief === true },
      print,
    );
    flush();
    if (broken) return 1;
  }
  return 0;
}

type Limits = { seed: number; histories: number; seconds: number; verbose: boolean; brief: boolean };

async function playAll<Step>(
  scenario: Scenario<Step>,
  { seed, histories, seconds, verbose, brief }: Limits,
  print: (line: string) => void,
): Promise<boolean> {
  const began = cpuSeconds();
  const elapsed = () => cpuSeconds() - began;
  const counts: Record<string, number> = {};
  let virtualMs = 0;
  let hash = 0;
  let played = 0;
  print(`${scenario.name}: from seed ${seed}`);
  while (played < histories && elapsed() < seconds) {
    const history = scenario.decide(seed + played);
    const outcome = await scenario.play(history, verbose ? print : undefined);
    played += 1;
    virtualMs += outcome.virtualMs;
    hash = (Math.imul(hash, 31) + outcome.hash) | 0;
    for (const [name, count] of Object.entries(outcome.counts)) counts[name] = (counts[name] ?? 0) + count;
    if (outcome.verdict !== 'broken') continue;
    print(`${played} histories in ${elapsed().toFixed(1)} s of CPU`);
    await report(scenario, history, outcome, { print, brief });
    return true;
  }
  const happened = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  print(
    `${scenario.name}: ${played} histories held, in ${elapsed().toFixed(1)} s of CPU; ` +
      `${Math.round(virtualMs / 1_000)} s of virtual time, ${happened.join(', ')}; hash ${(hash >>> 0).toString(16)}`,
  );
  return false;
}

/** Prints what broke: the shortest history that still breaks the same invariant, and every choice of its seed. */
async function report<Step>(
  scenario: Scenario<Step>,
  history: History<Step>,
  outcome: Extract<Outcome, { verdict: 'broken' }>,
  { print, brief }: { print: (line: string) => void; brief: boolean },
): Promise<void> {
  const { invariant } = outcome.violation;
  print(`\nBROKEN, seed ${history.seed}: ${outcome.violation.message}\n`);
  print(
    `Options: ${Object.entries(history.options)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}`,
  );
  if (brief) return;
  const short = await shorten(scenario, history, invariant);
  print(`\nThe history, shortened from ${history.steps.length} steps to ${short.steps.length}:`);
  const again = await scenario.play(short, print);
  print(again.verdict === 'broken' ? `\n${again.violation.message}` : '\nthe shortened history held');
  print(`\nPlay it again: npm run sim -- --only ${scenario.name} --seed ${history.seed}`);
}

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isFinite(number) || number < 0) throw new Error(`--${name} must be a number, not ${text}`);
  return number;
}
