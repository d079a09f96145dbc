import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const PAGE_BYTES = 4_096;
const ENTRY_BYTES = 8;
const PRESENT = 1n << 63n;
const FRAME_MASK = (1n << 55n) - 1n;

/**
 * Returns the proportional memory of processes as if no others ran on the machine: each page frame is divided among
 * those of them that map it. `Pss` of proc(5) also counts other processes that run the same programs. Bytes, by
 * process.
 *
 * @throws Error when this process may not read frame numbers, which only root may
 */
export function memoryAlone(pids: readonly number[]): Map<number, number> {
  const owners = new Map<bigint, number>();
  const framesOf = new Map(pids.map((pid) => [pid, framesIn(pid)]));
  for (const frames of framesOf.values()) {
    for (const frame of frames) owners.set(frame, (owners.get(frame) ?? 0) + 1);
  }
  return new Map(
    [...framesOf].map(([pid, frames]) => {
      let bytes = 0;
      for (const frame of frames) bytes += PAGE_BYTES / (owners.get(frame) ?? 1);
      return [pid, bytes];
    }),
  );
}

/** Returns the page frames in memory of a process; none if it has exited. */
function framesIn(pid: number): Set<bigint> {
  const frames = new Set<bigint>();
  let pagemap: number;
  try {
    pagemap = openSync(`/proc/${pid}/pagemap`, 'r');
  } catch {
    return frames;
  }
  try {
    for (const { from, to } of residentMappings(pid)) {
      const bytes = Buffer.alloc(((to - from) / PAGE_BYTES) * ENTRY_BYTES);
      const read = readSync(pagemap, bytes, 0, bytes.length, (from / PAGE_BYTES) * ENTRY_BYTES);
      for (let at = 0; at + ENTRY_BYTES <= read; at += ENTRY_BYTES) {
        const entry = bytes.readBigUInt64LE(at);
        if ((entry & PRESENT) === 0n) continue;
        const frame = entry & FRAME_MASK;
        if (frame === 0n) throw new Error(`the page frames of process ${pid} are hidden: run it as root`);
        frames.add(frame);
      }
    }
  } finally {
    closeSync(pagemap);
  }
  return frames;
}

/** Returns the mappings with pages in memory. Reserved address space is far larger. */
function residentMappings(pid: number): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = [];
  let mapping = { from: 0, to: 0 };
  for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) /.exec(line) ?? [];
    if (from !== undefined && to !== undefined) {
      mapping = { from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) };
    } else if (/^Rss:\s+[1-9]/.test(line)) found.push(mapping);
  }
  return found;
}
