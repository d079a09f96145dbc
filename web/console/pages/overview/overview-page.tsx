import { useApi } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { type Session, useSession } from '../../api/session.ts';
import { Dashboard } from '../../dashboard/dashboard.tsx';
import { analyticsOptions, overTimeBody, type Source } from '../../dashboard/source.ts';
import { viewOf } from '../../dashboard/view.ts';
import { viewerTimeZone } from '../../formats.ts';
import type { PageModule } from '../../shell/lazy-page.tsx';
import { FirstSteps } from './first-steps.tsx';
import { NoClicks } from './no-clicks.tsx';

const sourceOf = ({ workspace }: Pick<Session, 'workspace'>, withRevenue: boolean): Source => ({
  path: '/analytics/query',
  currency: workspace.currency,
  zone: workspace.time_zone ?? viewerTimeZone(),
  withRevenue,
  isConsole: true,
  annotations: null,
});

/** Sends the read of totals and chart. The page does not wait for the response, because it has other reads to send. */
export const firstRead: PageModule['firstRead'] = (queries, search, session) => {
  const source = sourceOf(session, true);
  void queries.prefetchQuery(analyticsOptions(source.path, overTimeBody(viewOf(search), source)));
};

/** The workspace's dashboard. */
export default function OverviewPage() {
  const session = useSession();
  const me = useApi<ResponseOf<'/me'>>('/me');
  const withRevenue = me.data?.plan.revenue_visible !== false;
  return (
    <Dashboard
      title="Overview"
      source={sourceOf(session, withRevenue)}
      intro={<FirstSteps />}
      empty={<NoClicks />}
    />
  );
}
