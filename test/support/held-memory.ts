import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Returns the bytes that this process holds after garbage collection: on the heap, and in buffers beside it. */
export function heldMemory(): { heap: number; buffers: number } {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return { heap: heapUsed, buffers: arrayBuffers };
}
