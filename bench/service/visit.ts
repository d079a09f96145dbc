import type { Bench } from '../harness/bench.ts';
import { clicksOnLinks } from '../load/clicks-on-links.ts';
import { drive } from '../load/generator.ts';
import { untilVisible } from './lag.ts';
import type { BenchService } from './start.ts';

const CONNECTIONS = 32;

/**
 * Sends new visitors to the links of a service at a rate, and waits until their clicks are visible.
 *
 * @param given.rate visits a second
 * @returns the number of clicks
 * @throws Error when a redirect failed
 */
export async function visitAtRate(
  bench: Bench,
  service: BenchService,
  given: { seconds: number; rate: number },
): Promise<number> {
  const { failed, total } = await drive(bench, {
    ...given,
    port: service.ingestPort,
    connections: CONNECTIONS,
    warmUpSeconds: 0,
    sharesCore: true,
    hot: service.slugs,
    cold: [],
    coldShare: 0,
    heads: clicksOnLinks(1, true).heads,
  });
  if (failed > 0) throw new Error(`${failed} redirects failed`);
  await untilVisible(service.pool, Date.now());
  return total;
}
