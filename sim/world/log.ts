import { type Logger, silentLogger } from '../../core/tier/log.ts';
import type { World } from './world.ts';

const log = silentLogger();

/** A logger whose warnings and errors are part of the history. */
export function collectingLogger(world: World): Logger {
  const note = (given: unknown, message?: string) => world.note(`logs "${message ?? given}"`);
  return Object.assign(Object.create(log), { warn: note, error: note, child: () => collectingLogger(world) });
}
