import type { Edit } from '../modules/load.ts';
import { MUTATIONS } from './list.ts';

/** Returns the wrong version of a name. @throws Error when there is none */
export function readEdit(name: string): Edit {
  const found = MUTATIONS.find((mutation) => mutation.name === name);
  if (!found)
    throw new Error(`no mutation ${name}; there are: ${MUTATIONS.map((one) => one.name).join(', ')}`);
  return found;
}
