import { isTypingError } from '../text/typing-error.ts';
import { SETTING_NAMES } from './config.ts';

/** Shorter names differ by one letter from too many others. */
const SHORTEST = 6;

export type Misspelled = { name: string; near: string };

/**
 * Returns names of the environment that are not settings, but one mistake away from a setting in either case: a letter
 * wrong, added or missing, or two swapped.
 */
export function misspelledSettings(env: NodeJS.ProcessEnv): Misspelled[] {
  const found: Misspelled[] = [];
  for (const name of Object.keys(env)) {
    if (name.length < SHORTEST || SETTING_NAMES.includes(name)) continue;
    const near = SETTING_NAMES.find(
      (setting) => setting.length >= SHORTEST && isTypingError(name.toUpperCase(), setting),
    );
    if (near !== undefined) found.push({ name, near });
  }
  return found;
}
