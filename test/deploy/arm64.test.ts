import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROOT } from './compose-file.ts';

/**
 * The image of `linux/arm64`, as far as a machine of another kind can tell: a build finds a binary of every native
 * package.
 */

type Locked = { version: string; dev?: boolean; os?: string[]; cpu?: string[]; libc?: string[] };
const { packages } = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')) as {
  packages: Record<string, Locked>;
};
/** Packages of processes that the image does not run (`cli/programs/assemble.ts`): the embedded ClickHouse. */
const NOT_IN_IMAGE = ['node_modules/@chdb/lib-linux-x64-gnu'];

const runsOnX64 = ({ os, cpu, libc, dev }: Locked) =>
  dev !== true && os?.includes('linux') && cpu?.includes('x64') && libc?.[0] !== 'musl';
const native = Object.entries(packages).filter(([path, it]) => runsOnX64(it) && !NOT_IN_IMAGE.includes(path));

test('the lock has native packages', () => {
  expect(native.map(([path]) => path)).toContain('node_modules/@node-rs/crc32-linux-x64-gnu');
});

test.each(native)('%s has its like for arm64 in the same version', (path, { version, libc }) => {
  const like = packages[path.replace('x64', 'arm64')];
  expect(like).toMatchObject({ version, os: ['linux'], cpu: ['arm64'], ...(libc && { libc }) });
});

test('uWebSockets.js brings a binary for arm64 and this Node.js, the one that NOTICE names', () => {
  const name = `uws_linux_arm64_${process.versions.modules}.node`;
  const path = `${ROOT}node_modules/uWebSockets.js/dist/bin/${name}`;
  expect(machineOf(path)).toBe(AARCH64);
  const [, sum] = new RegExp(`^${name} (\\w{64})$`, 'm').exec(readFileSync(`${ROOT}NOTICE`, 'utf8')) ?? [];
  expect(createHash('sha256').update(readFileSync(path)).digest('hex')).toBe(sum);
});

/** `EM_AARCH64` of the ELF format. */
const AARCH64 = 183;

/** Returns `e_machine` of an ELF file. */
function machineOf(path: string): number {
  const header = Buffer.alloc(20);
  const file = openSync(path, 'r');
  readSync(file, header);
  closeSync(file);
  expect(header.toString('latin1', 1, 4)).toBe('ELF');
  return header.readUInt16LE(18);
}
