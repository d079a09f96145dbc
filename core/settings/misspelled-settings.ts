import { isTypingError } from '../text/typing-error.ts';
import { SETTING_NAMES } from './config.ts';

/** Shorter names differ by one letter from too many others. */
const SHORTEST = 6;

/** What other services call a setting, and what it is called here. */
const OTHER_NAMES: readonly { name: string; settings: readonly string[] }[] = [
  { name: 'PORT', settings: ['API_PORT', 'INGEST_PORT'] },
];

export type Misspelled = { name: string; near: string };

/**
 * Returns names of the environment that are not settings, but what other services call a setting that is not set, or
 * one mistake away from a setting in either case: a letter wrong, added or missing, or two swapped.
 */
export function misspelledSettings(env: NodeJS.ProcessEnv): Misspelled[] {
  const found: Misspelled[] = [];
  for (const { name, settings } of OTHER_NAMES) {
    if (env[name] && !settings.some((setting) => env[setting])) {
      found.push({ name, near: settings.join(' or ') });
    }
  }
  for (const name of Object.keys(env)) {
    if (name.length < SHORTEST || SETTING_NAMES.includes(name)) continue;
    const near = SETTING_NAMES.find(
      (setting) => setting.length >= SHORTEST && isTypingError(name.toUpperCase(), setting),
    );
    if (near !== undefined) found.push({ name, near });
  }
  return found;
}
