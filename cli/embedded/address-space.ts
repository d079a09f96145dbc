import { readFileSync } from 'node:fs';

/**
 * Address space that the embedded ClickHouse, the largest process, reserves with its threads, without the data of
 * queries. Bytes. With 2.5 GB it does not start.
 */
export const RESERVED_BYTES = 5_000_000_000;
/** Minimum limit. Bytes. */
const NEEDED_BYTES = RESERVED_BYTES + 1_000_000_000;

/** The address space limit is below the service's reservation. */
export class AddressSpaceLimited extends Error {
  override name = 'AddressSpaceLimited';
}

/** Returns the limit of the address space of a process (`ulimit -v`). Bytes; Infinity without one. */
export function addressSpace(): number {
  const [, limit] = /^Max address space\s+(\d+)/m.exec(limitsOfThisProcess()) ?? [];
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
}

/**
 * Asserts that `ulimit -v` leaves enough address space: Node.js and ClickHouse reserve far more than they use.
 *
 * @throws {AddressSpaceLimited} with the command that removes the limit
 */
export function assertAddressSpace(): void {
  const limit = addressSpace();
  if (limit >= NEEDED_BYTES) return;
  throw new AddressSpaceLimited(
    `the address space is limited to ${limit} bytes, at least ${NEEDED_BYTES} are needed: run "ulimit -v unlimited" first ` +
      '(to limit memory, use a control group, such as MemoryMax of systemd)',
  );
}

function limitsOfThisProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
