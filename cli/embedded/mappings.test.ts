import { expect, test } from 'vitest';
import { unmodifiedMappings } from './mappings.ts';

const mapping = (range: string, rights: string, path: string, rss: number, anonymous: number) =>
  `${range} ${rights} 00000000 fe:00 5319987                    ${path}
Size:              12784 kB
Rss:               ${rss} kB
Private_Dirty:     ${anonymous} kB
Anonymous:         ${anonymous} kB
`;
const LIBRARY = '/a folder/libchdb.so';

test('a mapping with relocations, of another file, or that can be written is left out', () => {
  const smaps = [
    mapping('7f0000000000-7f0000004000', 'r--p', LIBRARY, 12, 0),
    mapping('7f0000004000-7f0000006000', 'r-xp', LIBRARY, 8, 0),
    mapping('7f0000006000-7f0000007000', 'r--p', LIBRARY, 4, 4),
    mapping('7f0000007000-7f0000008000', 'rw-p', LIBRARY, 4, 0),
    mapping('7f0000008000-7f0000009000', 'r--p', '/other/libchdb.so', 4, 0),
    mapping('7f0000009000-7f000000a000', 'r--p', '', 4, 0),
  ].join('');
  expect(unmodifiedMappings(LIBRARY, smaps)).toEqual([
    { from: 0x7f0000000000, bytes: 16_384, residentBytes: 12_288, isCode: false },
    { from: 0x7f0000004000, bytes: 8_192, residentBytes: 8_192, isCode: true },
  ]);
});

test('this process has its own program mapped', () => {
  const found = unmodifiedMappings(process.execPath);
  expect(found.some(({ isCode, residentBytes }) => isCode && residentBytes > 0)).toBe(true);
});
