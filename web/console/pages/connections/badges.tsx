import { StatusBadge } from '../../parts/status-badge.tsx';
import type { Connection, EventStatus } from './responses.ts';
import { STATUS_NAMES } from './words.ts';

const SIGNS = {
  pending: 'waiting',
  recorded: 'good',
  unmatched: 'bad',
  ignored: 'paused',
  failed: 'bad',
} as const;

/** Outcome of an event. */
export const EventBadge = ({ status }: { status: EventStatus }) => (
  <StatusBadge sign={SIGNS[status]}>{STATUS_NAMES[status]}</StatusBadge>
);

/** Status of a connection. */
export function ConnectionBadge({ status }: Pick<Connection, 'status'>) {
  if (status === 'active') return <StatusBadge sign="good">Connected</StatusBadge>;
  if (status === 'waiting') return <StatusBadge sign="waiting">Waits for an event</StatusBadge>;
  return <StatusBadge sign="paused">Not finished</StatusBadge>;
}
