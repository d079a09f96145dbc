import type { ClickSource } from '../click-sources.ts';
import { csv } from './csv.ts';
import type { ClickFormat, FileFormat } from './format.ts';
import { kutt } from './kutt.ts';
import { matomo } from './matomo.ts';
import { plausible } from './plausible.ts';
import { shlink } from './shlink.ts';
import { yourls } from './yourls.ts';

export const CLICK_FORMATS: Readonly<Record<ClickSource, ClickFormat>> = {
  csv,
  shlink,
  yourls,
  kutt,
  plausible,
  matomo,
};

/** Thrown for a file that is not in the format of its source. */
export class WrongClickFile extends Error {
  override name = 'WrongClickFile';
}

/** Returns whether a row, or the columns of a file, are of a format. */
export function isOfFormat(
  { needs }: Pick<FileFormat, 'needs'>,
  keys: { has(key: string): boolean },
): boolean {
  return needs.every((some) => some.some((key) => keys.has(key)));
}
