import { StatusBadge } from '../../parts/status-badge.tsx';
import type { DeliveryStatus, Webhook } from './responses.ts';

/** Status of a delivery. */
export function ResultBadge({ status, attempts }: { status: DeliveryStatus; attempts: number }) {
  if (status === 'delivered') return <StatusBadge sign="good">Delivered</StatusBadge>;
  if (status === 'failed') return <StatusBadge sign="bad">Failed</StatusBadge>;
  return <StatusBadge sign="waiting">{attempts === 0 ? 'Pending' : 'Retrying'}</StatusBadge>;
}

/** Status of a webhook. */
export function StateBadge({ webhook }: { webhook: Webhook }) {
  if (webhook.is_active) return <StatusBadge sign="good">On</StatusBadge>;
  if (webhook.disabled_at !== null) return <StatusBadge sign="bad">Disabled after failures</StatusBadge>;
  return <StatusBadge sign="paused">Off</StatusBadge>;
}
