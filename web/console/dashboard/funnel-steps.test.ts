import { expect, test } from 'vitest';
import { funnelSteps } from './funnel-steps.ts';

const metrics = (totals: Parameters<typeof funnelSteps>[0]) => funnelSteps(totals).map(([metric]) => metric);

test('a funnel has a step for leads, but for orders that came without any', () => {
  expect(metrics({ leads: 4, conversions: 2 })).toEqual(['clicks', 'leads', 'conversions']);
  expect(metrics({ leads: 0, conversions: 2 })).toEqual(['clicks', 'conversions']);
  expect(metrics({ leads: 0, conversions: 0 })).toEqual(['clicks', 'leads', 'conversions']);
});
