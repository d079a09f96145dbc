import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { assertInvariant, brokenCount, exposeInvariants } from './invariants.ts';

it('a broken invariant throws with its values and is counted; one that holds does neither', async () => {
  const registry = new Registry();
  exposeInvariants(registry);
  const before = brokenCount('lane_forward');
  assertInvariant('lane_forward', true, () => 'not built');
  expect(brokenCount('lane_forward')).toBe(before);
  expect(() => assertInvariant('lane_forward', false, () => 'from 7 to 3')).toThrow(
    'invariant lane_forward: from 7 to 3',
  );
  const text = await registry.metrics();
  expect(text).toContain(`hoplog_invariant_failures_total{invariant="lane_forward"} ${before + 1}\n`);
  expect(text).toMatch(/hoplog_invariant_failures_total\{invariant="block_month"\} \d+\n/);
});
