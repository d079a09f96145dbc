import { SETTING_NAMES } from './config.ts';

/** Shorter names differ by one letter from too many others. */
const SHORTEST = 6;

export type Misspelled = { name: string; near: string };

/**
 * Returns names of the environment that are not settings, but one mistake away from one or from its lower case: a
 * letter wrong, added or missing, or two swapped.
 */
export function misspelledSettings(env: NodeJS.ProcessEnv): Misspelled[] {
  const found: Misspelled[] = [];
  for (const name of Object.keys(env)) {
    if (name.length < SHORTEST || SETTING_NAMES.includes(name)) continue;
    const near = SETTING_NAMES.find((setting) => isTypingError(name.toUpperCase(), setting));
    if (near !== undefined) found.push({ name, near });
  }
  return found;
}

function isTypingError(name: string, setting: string): boolean {
  if (name === setting) return true;
  if (setting.length < SHORTEST || Math.abs(name.length - setting.length) > 1) return false;
  const at = [...setting].findIndex((letter, index) => letter !== name[index]);
  const start = at < 0 ? setting.length : at;
  const [rest, wanted] = [name.slice(start), setting.slice(start)];
  return (
    rest.slice(1) === wanted.slice(1) ||
    rest.slice(1) === wanted ||
    rest === wanted.slice(1) ||
    (rest[0] === wanted[1] && rest[1] === wanted[0] && rest.slice(2) === wanted.slice(2))
  );
}
