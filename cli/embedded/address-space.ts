import { readFileSync } from 'node:fs';

/** Measured: with `ulimit -v 8000000` Node.js itself fails, with 16000000 all parts start. */
const NEEDED_BYTES = 16_000_000_000;

/** The address space is limited to less than the service reserves. */
export class AddressSpaceLimited extends Error {
  override name = 'AddressSpaceLimited';
}

/**
 * Node.js and ClickHouse reserve far more address space than they use, so that `ulimit -v` makes them fail anywhere.
 *
 * @param limits text of Linux's `/proc/self/limits`
 * @throws {AddressSpaceLimited} naming the command that lifts the limit
 */
export function assertAddressSpace(limits = limitsOfThisProcess()): void {
  const limit = Number(/^Max address space\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  if (limit >= NEEDED_BYTES) return;
  throw new AddressSpaceLimited(
    `the address space is limited to ${limit} bytes, and ${NEEDED_BYTES} are needed: run "ulimit -v unlimited" first ` +
      '(to limit memory use a control group, such as MemoryMax of systemd)',
  );
}

function limitsOfThisProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
