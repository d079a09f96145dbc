import { useApi } from '../api/queries.ts';
import type { ResponseOf } from '../api/responses.ts';
import { StatusBadge } from '../parts/status-badge.tsx';

const EVERY_MS = 30_000;

/** Shows that the service loses clicks or conversions. Nothing is shown while it cannot be asked. */
export function LossBadge() {
  const { data } = useApi<ResponseOf<'/service'>>('/service', {}, { every: EVERY_MS });
  const lost =
    data?.redirects === 'degraded' ? 'clicks' : data?.tracking === 'degraded' ? 'conversions' : null;
  return (
    <span
      role="status"
      title={
        lost === null
          ? undefined
          : `The server cannot store ${lost}, as with a full disk. "npx hoplog status" says why.`
      }
    >
      {lost !== null && <StatusBadge sign="bad">{`Losing ${lost}`}</StatusBadge>}
    </span>
  );
}
