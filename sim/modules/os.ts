import { world } from '../world/world.ts';

export { homedir } from 'node:os';

/** `node:os` of the simulated machine. */
export const uptime = () => Math.floor(world().sinceBoot() / 10) / 100;

export const hostname = () => world().current.host;
