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

/** Whether the newest call was refused for its signature: the signing secret may be wrong. */
export function isRefusing({
  status,
  last_event_at: last,
  last_refused_at: refused,
}: Pick<Connection, 'status' | 'last_event_at' | 'last_refused_at'>): boolean {
  return status !== 'incomplete' && refused !== null && (last === null || refused > last);
}

/** Status of a connection. */
export function ConnectionBadge({ connection }: { connection: Connection }) {
  const { status } = connection;
  if (isRefusing(connection)) return <StatusBadge sign="bad">Wrong signature</StatusBadge>;
  if (status === 'active') return <StatusBadge sign="good">Connected</StatusBadge>;
  if (status === 'waiting') return <StatusBadge sign="waiting">Waits for an event</StatusBadge>;
  return <StatusBadge sign="paused">Not finished</StatusBadge>;
}
