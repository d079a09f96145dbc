import type { Scenario } from './history.ts';

const LOADERS = {
  journal: async () => (await import('./journal/scenario.ts')).journal,
  permits: async () => (await import('./permits/scenario.ts')).permits,
  lane: async () => (await import('./lane/scenario.ts')).lane,
  webhooks: async () => (await import('./webhooks/scenario.ts')).webhooks,
  credits: async () => (await import('./credits/scenario.ts')).credits,
  ledger: async () => (await import('./ledger/scenario.ts')).ledger,
} as const;

/** The parts of the product that can be simulated. */
export const SCENARIOS = Object.keys(LOADERS);

/** Loads a part, with what of the product it runs. @throws Error when there is none of this name */
export function loadScenario(name: string): Promise<Scenario<unknown>> {
  if (!Object.hasOwn(LOADERS, name)) throw new Error(`--only must be one of: ${SCENARIOS.join(', ')}`);
  return LOADERS[name as keyof typeof LOADERS]();
}
