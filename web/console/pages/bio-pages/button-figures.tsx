import type { UseQueryResult } from '@tanstack/react-query';
import { messageOf } from '../../api/failures.ts';
import { useSession } from '../../api/session.ts';
import { formatMoney, plural } from '../../formats.ts';
import { Note } from '../../parts/note.tsx';
import type { BioButton, ButtonFigures as Figures, PageStats } from './responses.ts';

/** Statistics of a button in the period, or why there are none. */
export function ButtonFigures({
  saved,
  figures,
  isAwaited,
}: {
  saved: BioButton | undefined;
  figures: Figures | undefined;
  /** Whether the statistics are loading. */
  isAwaited: boolean;
}) {
  const { workspace } = useSession();
  return <Note mt="xs">{textOf()}</Note>;

  function textOf(): string {
    if (!saved) return 'Counts clicks once saved.';
    const isCounted = saved.tracked_link_id !== null;
    if (!isCounted && !hasBrought(figures)) {
      return 'Links directly to its URL: clicks are not counted.';
    }
    if (isAwaited) return 'Counting…';
    if (!figures) return '';
    const all = [
      plural(figures.clicks, 'click', 'clicks'),
      plural(figures.visitors, 'visitor', 'visitors'),
      ...gainsOf(figures, workspace.currency),
    ].join(' · ');
    return isCounted ? all : `Links directly to its URL: clicks are no longer counted. Previously: ${all}`;
  }
}

/** Whether a button has statistics. One without a short link may have had one before. */
export function hasBrought(figures: Figures | undefined): figures is Figures {
  return figures !== undefined && (figures.clicks > 0 || figures.conversions > 0);
}

/** Statistics of all buttons in the period, or why they are unavailable. */
export function FiguresOfAll({
  stats,
  hasFigures,
}: {
  stats: UseQueryResult<PageStats>;
  hasFigures: boolean;
}) {
  const { workspace } = useSession();
  const text = textOf();
  if (text === null) return null;
  return <Note mb="sm">{text}</Note>;

  function textOf(): string | null {
    if (!hasFigures) return 'Button statistics need a paid plan.';
    if (stats.isPlaceholderData) return 'Counting…';
    if (stats.isError) return `Statistics are unavailable: ${messageOf(stats.error)}`;
    if (!stats.data || stats.data.links.length < 2) return null;
    const { totals } = stats.data;
    // No visitors: the sum would count a visitor of two buttons twice.
    const all = [plural(totals.clicks, 'click', 'clicks'), ...gainsOf(totals, workspace.currency)];
    return `All buttons: ${all.join(' · ')}`;
  }
}

const gainsOf = ({ conversions, revenue }: PageStats['totals'], currency: string) => [
  plural(conversions, 'conversion', 'conversions'),
  formatMoney(revenue, currency),
];
