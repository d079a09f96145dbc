import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { callApi } from '../api/call.ts';
import { formatCount, plural } from '../formats.ts';
import { baseOf, type Result, useSource } from './source.ts';
import { useView } from './use-view.ts';

/** A visitor counts as online for this long after a click. Minutes. */
const ONLINE_MINUTES = 5;
/** Milliseconds between two reads. */
const READ_EVERY = 30_000;

/** How many visitors clicked in the last minutes, within the page's filters. It leads to their clicks. */
export function OnlineNow() {
  const { view } = useView();
  const { path, zone } = useSource();
  const { filters } = baseOf(view, { zone });
  const { data } = useQuery<Result>({
    queryKey: [path, 'online', filters],
    queryFn: ({ signal }) => {
      const now = Date.now();
      const from = new Date(now - ONLINE_MINUTES * 60_000).toISOString();
      const window = { from, to: new Date(now).toISOString() };
      const body = { metrics: ['visitors'], window, time_zone: zone, ...(filters && { filters }) };
      return callApi<Result>(path, { method: 'POST', body, signal });
    },
    refetchInterval: READ_EVERY,
  });
  if (!data) return null;
  const visitors = data.totals.visitors ?? 0;
  return (
    <Anchor
      component={Link}
      href="/live"
      size="sm"
      className="online-now"
      data-none={visitors === 0 || undefined}
      title={`${plural(visitors, 'visitor', 'visitors')} clicked in the last ${ONLINE_MINUTES} minutes`}
    >
      {formatCount(visitors)} online now
    </Anchor>
  );
}
