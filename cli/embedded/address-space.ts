import { readFileSync } from 'node:fs';

/** Bytes. Node.js alone fails with 8 GB. */
const NEEDED_BYTES = 16_000_000_000;

/** The address space limit is below what the service reserves. */
export class AddressSpaceLimited extends Error {
  override name = 'AddressSpaceLimited';
}

/**
 * Asserts that `ulimit -v` leaves enough address space: Node.js and ClickHouse reserve far more than they use.
 *
 * @param limits text of Linux's `/proc/self/limits`
 * @throws {AddressSpaceLimited} with the command that removes the limit
 */
export function assertAddressSpace(limits = limitsOfThisProcess()): void {
  const limit = Number(/^Max address space\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
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
