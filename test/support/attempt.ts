import type { Victim } from './victim.ts';

/** `as: 'member'`: called by a console member of the other workspace, where a key is not accepted. */
export type Attempt = { path: string; body?: unknown; status: number; as?: 'member' };

/** For each endpoint: calls with the victim's ids, and the status that each must get. */
export type Attempts = Record<string, (victim: Victim) => Attempt[]>;

export const URL_OF_OWN = 'https://own.example';
export const OWN = { destination_url: URL_OF_OWN, name: 'Own', channel: 'slack' };
