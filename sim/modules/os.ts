import { world } from '../world/world.ts';

/** `node:os` of the simulated machine. */
export const uptime = () => Math.floor(world().sinceBoot() / 10) / 100;
