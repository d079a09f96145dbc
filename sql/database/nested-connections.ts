import { AsyncLocalStorage } from 'node:async_hooks';

/** Set inside of a transaction, once {@link refuseNestedConnections} is called. */
let transactions: AsyncLocalStorage<true> | undefined;

/**
 * From now on, a request for a connection inside of a transaction throws. Such a request can wait forever: when each
 * connection of a pool holds a transaction that requests a second one, none gets it. For tests, because it slows every
 * promise down.
 */
export function refuseNestedConnections(): void {
  transactions ??= new AsyncLocalStorage();
}

/** Runs `work` marked as part of a transaction. */
export function asTransaction<T>(work: () => Promise<T>): Promise<T> {
  return transactions ? transactions.run(true, work) : work();
}

/** @throws Error inside of a transaction, when nested connections are refused */
export function assertOutsideTransaction(): void {
  if (transactions?.getStore()) {
    throw new Error('a transaction asks for a second connection: pass its client instead of the pool');
  }
}

/** Runs `work` of a test unmarked, as if it were outside of the surrounding transaction. */
export function outsideTransaction<T>(work: () => T): T {
  return transactions ? transactions.exit(work) : work();
}
