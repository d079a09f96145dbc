import { totalmem } from 'node:os';
import { addressSpace, RESERVED_BYTES } from './address-space.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/**
 * Minimum memory for `npm start` with its databases. A machine that is sold with 1 GiB has less, because the kernel
 * reserves some. `bench/small-machine.ts` measures what such a machine can handle.
 */
export const LEAST_MEMORY_BYTES = 900 * MIB;
/** Below this, each part gets less memory than it would use. */
const SMALL_BYTES = 2 * GIB;
/** From here on, workers get 144 MiB of memory that only saves CPU. */
const ROOMY_BYTES = 4 * GIB;
/** Memory that a kernel reserves on a machine. */
const KERNEL_BYTES = 128 * MIB;
/**
 * Memory of all processes without the data of ClickHouse's queries, with room for an export and for pages of files:
 * Node.js 230 MiB at rest, PostgreSQL 50, ClickHouse itself 130.
 */
const OTHERS_BYTES = 580 * MIB;
const LEAST_CLICKHOUSE_BYTES = 320 * MIB;

/** The memory limits of the parts. */
export type MemoryPlan = {
  /** Limit of ClickHouse's allocations for queries, inserts, merges, and caches. */
  clickhouseBytes: number;
  /** Whether a query of ClickHouse has few threads, each with its own blocks, and its caches are small. */
  isSmall: boolean;
  /** Whether there is enough memory to save CPU with it. */
  isRoomy: boolean;
  sharedBuffersMiB: number;
  /** V8's flags of each process; none if its own limits are suitable. */
  nodeFlags: readonly string[];
};

/** Returns the memory of this machine or, if less, of its container. Bytes. */
export function machineMemory(): number {
  // 0 or a very large number without a limit, see process.constrainedMemory().
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/**
 * Divides the memory of a machine among the parts of `npm start`.
 *
 * @param reservable limit of the address space of a process, which ClickHouse's queries must not reach: it would crash
 */
export function memoryPlan(total = machineMemory(), reservable = addressSpace()): MemoryPlan {
  const left = Math.max(LEAST_CLICKHOUSE_BYTES, total - OTHERS_BYTES);
  const isSmall = total < SMALL_BYTES - KERNEL_BYTES;
  return {
    clickhouseBytes: Math.floor(Math.min(total / 2, left, reservable - RESERVED_BYTES)),
    isSmall,
    isRoomy: total >= ROOMY_BYTES - 2 * KERNEL_BYTES,
    sharedBuffersMiB: isSmall ? 32 : 128,
    // Limits heaps, which grow before they are collected. Objects of one request fit into the young generation.
    nodeFlags: isSmall
      ? [`--max-old-space-size=${Math.max(128, Math.floor(total / 4 / MIB))}`, '--max-semi-space-size=4']
      : [],
  };
}

/** Returns the warning about a machine with too little memory; null if it has enough. */
export function memoryWarning(total = machineMemory()): string | null {
  if (total >= LEAST_MEMORY_BYTES) return null;
  return (
    `this machine or container has ${Math.floor(total / MIB)} MiB of memory, but the service with its databases needs ` +
    '1 GiB: the kernel may end processes (docs/operations/sizing.md)'
  );
}
