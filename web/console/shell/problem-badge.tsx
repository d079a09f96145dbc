import { Link } from 'wouter';
import { useApi } from '../api/queries.ts';
import type { ResponseOf } from '../api/responses.ts';
import { formatCount } from '../formats.ts';
import { StatusBadge } from '../parts/status-badge.tsx';

const EVERY_MS = 30_000;

/** Texts of urgent problems. */
const URGENT: Partial<Record<string, string>> = {
  clicks_lost: 'Losing clicks',
  conversions_lost: 'Losing conversions',
};

/** Shows on every page that the workspace has problems, and leads to them. Empty until they are known. */
export function ProblemBadge() {
  const { data } = useApi<ResponseOf<'/problems'>>('/problems', {}, { every: EVERY_MS });
  const [worst] = data?.problems ?? [];
  const count = data?.problems.length ?? 0;
  const words = (worst && URGENT[worst.kind]) ?? (
    <>
      {formatCount(count)}
      <span className="wide-word">{count === 1 ? ' problem' : ' problems'}</span>
    </>
  );
  return (
    <span role="status">
      {worst && (
        <Link href="/problems" className="problem-badge">
          <StatusBadge sign="bad">{words}</StatusBadge>
        </Link>
      )}
    </span>
  );
}
