import { readFileSync } from 'node:fs';

/** An address range of a process. */
export type Mapping = { from: number; bytes: number; residentBytes: number; isCode: boolean };

/**
 * Returns the read-only mappings of a file in a process whose pages all have the content of the file. Hazard: the
 * dynamic loader writes relocations to pages that are read-only afterward; those mappings are left out.
 *
 * @param smaps text of Linux's `/proc/<pid>/smaps`; default: of this process
 */
export function unmodifiedMappings(
  path: string,
  smaps = readFileSync('/proc/self/smaps', 'utf8'),
): Mapping[] {
  return smaps.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m).flatMap((mapping) => {
    const [, from, to, execute] = /^([0-9a-f]+)-([0-9a-f]+) r-([x-])p /.exec(mapping) ?? [];
    const [header = ''] = mapping.split('\n', 1);
    if (from === undefined || to === undefined || !header.endsWith(` ${path}`)) return [];
    if (kilobytes(mapping, 'Anonymous') !== 0) return [];
    const start = Number.parseInt(from, 16);
    return [
      {
        from: start,
        bytes: Number.parseInt(to, 16) - start,
        residentBytes: (kilobytes(mapping, 'Rss') ?? 0) * 1_024,
        isCode: execute === 'x',
      },
    ];
  });
}

function kilobytes(mapping: string, field: string): number | null {
  const [, value] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(mapping) ?? [];
  return value === undefined ? null : Number(value);
}
