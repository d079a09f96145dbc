import { readFileSync } from 'node:fs';

const FILE = new URL('../../deploy/images.env', import.meta.url);

/**
 * Returns the image of a name in `deploy/images.env`, such as `POSTGRES_IMAGE`.
 *
 * @throws Error when it is not listed
 */
export function imageOf(name: string): string {
  const image = new RegExp(`^${name}=(\\S+)$`, 'm').exec(readFileSync(FILE, 'utf8'))?.[1];
  if (image === undefined) throw new Error(`deploy/images.env has no ${name}`);
  return image;
}
