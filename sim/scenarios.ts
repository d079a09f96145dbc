import type { Scenario } from './history.ts';
import { journal } from './journal/scenario.ts';
import { lane } from './lane/scenario.ts';
import { permits } from './permits/scenario.ts';

/** The parts of the product that can be simulated, by name. */
export const SCENARIOS: Readonly<Record<string, Scenario<unknown>>> = { journal, permits, lane };
