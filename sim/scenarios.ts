import { journal } from './journal/scenario.ts';

/** The parts of the product that can be simulated, by name. */
export const SCENARIOS = { journal };
