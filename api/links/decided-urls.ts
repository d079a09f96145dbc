import type { LinkSettings } from '../../sql/links/link-settings.ts';

/** An address of a link, with the name of its field. */
export type DecidedUrl = readonly [field: string, url: string];

/** Returns the destinations of a link's rules, devices and splits. Undefined: not sent. */
export function decidedUrls({ targeting, rules, split }: Partial<LinkSettings>): DecidedUrl[] {
  return [
    ...Object.entries(targeting ?? {}).map(([name, url]): DecidedUrl => [`targeting.${name}`, url]),
    ...urlsIn('rules', rules ?? []),
    ...urlsIn('split', split ?? []),
  ];
}

function urlsIn(field: string, given: { destination_url: string }[]): DecidedUrl[] {
  return given.map(({ destination_url }, nth) => [`${field}.${nth}.destination_url`, destination_url]);
}
