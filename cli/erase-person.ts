import { randomUUID } from 'node:crypto';
import type { ReplicasToWrite } from '../analytics/replicas/write-to-each.ts';
import { normalizeEmail } from '../core/tracking/emails.ts';
import { inTransaction, type Pool } from '../sql/database/pool.ts';
import { type ErasedRecords, forgetPerson, visitorsWithEmail } from '../sql/erasure/erased-persons.ts';
import { forgetOrdersNaming, requestErasure } from '../sql/erasure/erasures.ts';
import { holdPublications } from '../sql/orders/publications.ts';
import { lockWorkspace } from '../sql/workspaces/workspaces.ts';
import { eraseVisitor, hideInEach, untilReadersKnow } from './erase-visitor.ts';
import { recordOperator } from './record-operator.ts';

/** Numbers of erased visitors, referrers, signups, orders and members. */
export type ErasedPerson = { deleted: number } & ErasedRecords & { visitors: number };

/**
 * Erases a person from a workspace by email: visitors with their history, referrers, signups, the buyer of orders, and
 * members. Amounts and ids stay. Safe to repeat after an interruption.
 *
 * @throws {CommandFailed} when roll-ups hold the job lock for ten minutes
 */
export async function erasePerson(
  stores: ReplicasToWrite & { pool: Pool },
  given: { workspaceId: string; email: string; now: Date },
): Promise<ErasedPerson> {
  const { workspaceId, now } = given;
  const email = normalizeEmail(given.email);
  const visitors = await visitorsWithEmail(stores.pool, workspaceId, email);
  const { stored, records } = await inTransaction(stores.pool, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    await holdPublications(tx);
    // No visitor has this id, so this selects only orders that name the email and no visitor.
    const nobody = { workspaceId, targetId: randomUUID() };
    const names = { emails: [email], users: [] };
    const { stored } = await hideInEach(tx, stores, nobody, names);
    await requestErasure(tx, { ...nobody, kind: 'visitor', names });
    const named = await forgetOrdersNaming(tx, workspaceId, names, null);
    const forgotten = await forgetPerson(tx, workspaceId, email, { now, by: 'operator' });
    await recordOperator(tx, { workspaceId, action: 'person.delete', target: { type: 'person', id: null } });
    return { stored, records: { ...forgotten, orders: forgotten.orders + named } };
  });
  await untilReadersKnow(stores, stored);
  // Runs last, because visitors are found by the email: a repeated call finds those that this one did not reach.
  for (const visitorId of visitors) await eraseVisitor(stores, { workspaceId, visitorId });
  const { enrollments, signups, orders, members } = records;
  return {
    deleted: visitors.length + enrollments + signups + orders + members,
    visitors: visitors.length,
    ...records,
  };
}
