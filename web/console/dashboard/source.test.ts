import { expect, test } from 'vitest';
import { breakdownBody, mapBody, metricsFor } from './source.ts';
import { viewOf } from './view.ts';

const source = { zone: 'Europe/Berlin', withRevenue: true };

test('a list asks for the metrics that it shows and is sorted by, and for no other', () => {
  const clicks = breakdownBody(viewOf(new URLSearchParams()), source, 'channel');
  expect(clicks).toMatchObject({ metrics: ['clicks'], order_by: [{ by: 'clicks', direction: 'desc' }] });
  const leads = viewOf(new URLSearchParams('metric=leads'));
  for (const body of [breakdownBody(leads, source, 'channel'), mapBody(leads, source)]) {
    expect(body.metrics).toEqual(['leads', 'clicks']);
    expect(body.order_by?.map(({ by }) => by)).toEqual(['leads', 'clicks']);
  }
});

test('the page with all values, and the export, ask for every metric', () => {
  const metrics = metricsFor(source);
  const view = viewOf(new URLSearchParams('metric=leads'));
  expect(breakdownBody(view, source, 'channel', { metrics }).metrics).toEqual(metrics);
  expect(mapBody(view, source, { metrics }).metrics).toEqual(metrics);
});
