import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../../cli/embedded/unprivileged.ts';

const V1 = '/sys/fs/cgroup/memory';
const V2 = '/sys/fs/cgroup';

/** A control group with a memory limit and without swap, which simulates a machine or container of that size. */
export type MemoryGroup = {
  /** Starts Node.js inside it. */
  as: Command;
  /** Memory that the kernel cannot reclaim: without pages of files. Bytes. */
  anonymousBytes(): number;
  /** Processes that the kernel ended because the limit was reached. */
  kills(): number;
  /** Its processes must have ended. */
  remove(): void;
};

let groups = 0;

/** Returns whether this process may create one: root on Linux, with a memory controller of version 1 or 2. */
export function canLimitMemory(): boolean {
  try {
    makeMemoryGroup(2 ** 30).remove();
    return true;
  } catch {
    return false;
  }
}

/** Creates a group. @throws Error when this process may not */
export function makeMemoryGroup(bytes: number): MemoryGroup {
  const name = `hoplog-${process.pid}-${groups++}`;
  const group = existsSync(join(V1, 'memory.limit_in_bytes'))
    ? versionOne(name, bytes)
    : versionTwo(name, bytes);
  return {
    ...group,
    as: {
      file: '/bin/sh',
      args: ['-c', 'echo $$ > "$0" && exec "$@"', join(group.path, 'cgroup.procs'), process.execPath],
      identity: {},
    },
    remove: () => rmdirSync(group.path),
  };
}

type Group = Pick<MemoryGroup, 'anonymousBytes' | 'kills'> & { path: string };

function versionOne(name: string, bytes: number): Group {
  const path = join(V1, name);
  mkdirSync(path);
  set(path, 'memory.limit_in_bytes', String(bytes));
  // Absent without swap accounting.
  if (existsSync(join(path, 'memory.memsw.limit_in_bytes')))
    set(path, 'memory.memsw.limit_in_bytes', String(bytes));
  return {
    path,
    anonymousBytes: () => figure(path, 'memory.stat', 'total_rss'),
    kills: () => figure(path, 'memory.oom_control', 'oom_kill'),
  };
}

function versionTwo(name: string, bytes: number): Group {
  if (!figureText(V2, 'cgroup.controllers').includes('memory')) throw new Error('no memory controller');
  set(V2, 'cgroup.subtree_control', '+memory');
  const path = join(V2, name);
  mkdirSync(path);
  set(path, 'memory.max', String(bytes));
  if (existsSync(join(path, 'memory.swap.max'))) set(path, 'memory.swap.max', '0');
  return {
    path,
    anonymousBytes: () => figure(path, 'memory.stat', 'anon'),
    kills: () => figure(path, 'memory.events', 'oom_kill'),
  };
}

function set(path: string, file: string, value: string): void {
  writeFileSync(join(path, file), value);
}

function figureText(path: string, file: string): string {
  return readFileSync(join(path, file), 'utf8');
}

function figure(path: string, file: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(figureText(path, file))?.[1] ?? 0);
}
