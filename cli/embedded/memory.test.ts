import { expect, test } from 'vitest';
import { nodeFlags } from '../programs/programs.ts';
import { configXml } from './clickhouse-config.ts';
import { memoryPlan, memoryWarning } from './memory.ts';

const MIB = 2 ** 20;

const limitIn = (xml: string) => Number(/<max_server_memory_usage>(\d+)</.exec(xml)?.[1]) / MIB;

test.each([
  // A container of 1 GiB, a machine that is sold with 1 GiB, and larger ones.
  [1024, 444],
  [960, 380],
  [1536, 768],
  [2048, 1024],
  [24_105, 12_052],
])('of %i MiB, ClickHouse gets what the other parts leave, and at most half: %i MiB', (mib, clickhouse) => {
  const memory = memoryPlan(mib * MIB);
  expect(Math.floor(memory.clickhouseBytes / MIB)).toBe(clickhouse);
  expect(Math.floor(limitIn(configXml({ dataPath: '/d', port: 1, password: 'p', memory })))).toBe(clickhouse);
});

test('ClickHouse gets what a limited address space leaves beside what it reserves', () => {
  expect(memoryPlan(24_105 * MIB, 7_000_000_000).clickhouseBytes).toBe(2_000_000_000);
  expect(memoryPlan(1024 * MIB, 7_000_000_000).clickhouseBytes / MIB).toBe(444);
});

test('below 2 GiB, heaps and buffers are limited; above, they have their own limits', () => {
  expect(memoryPlan(1024 * MIB)).toMatchObject({
    isSmall: true,
    sharedBuffersMiB: 32,
    nodeFlags: ['--max-old-space-size=256', '--max-semi-space-size=4'],
  });
  expect(memoryPlan(2048 * MIB)).toMatchObject({ isSmall: false, sharedBuffersMiB: 128, nodeFlags: [] });
});

test('workers get memory that saves CPU from 4 GiB on, as a machine of that size reports it', () => {
  const flags = (mib: number) => nodeFlags('workers', memoryPlan(mib * MIB).isRoomy);
  for (const mib of [960, 2048, 3584]) expect(flags(mib)).not.toContain('--max-semi-space-size=64');
  for (const mib of [3850, 24_105]) expect(flags(mib)).toContain('--max-semi-space-size=64');
});

test('a machine with too little memory is named in one sentence', () => {
  expect(memoryWarning(960 * MIB)).toBeNull();
  expect(memoryWarning(512 * MIB)).toMatch(
    /^this machine or container has 512 MiB of memory, but .* needs 1 GiB: /,
  );
});
