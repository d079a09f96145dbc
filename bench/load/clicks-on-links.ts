import { dotted } from '../../ingest/http/addresses.ts';
import { slugOf } from '../data/links.ts';
import { visitorsFrom } from '../data/visitors.ts';
import { headOf, type LoadPlan } from './plan.ts';

/** Different visitors that a generator sends in turns. */
const HEADS = 2_000;
/** Of so many links nearly every visitor asks for one. */
const HOT = 10_000;
/** Other links that are asked for: more would only make the generator slower. */
const COLD = 200_000;

/**
 * Visitors of the links that `fillLinks` has made: 99 % of them ask for one of 10,000, the others for any of the rest.
 *
 * @param links how many there are
 * @param addresses whether each visitor comes through a proxy that says an address
 */
export function clicksOnLinks(
  links: number,
  addresses = false,
): Pick<LoadPlan, 'hot' | 'cold' | 'coldShare' | 'heads'> {
  const visitor = visitorsFrom(7);
  const heads = Array.from({ length: HEADS }, () => {
    const { userAgent, referer, address } = visitor();
    return headOf({ userAgent, referer, ...(addresses ? { address: dotted(address) } : {}) });
  });
  const cold = Math.max(0, links - HOT);
  const step = Math.max(1, Math.floor(cold / COLD));
  return {
    // As many of them with few links: what the generator holds takes of the caches that a server on the same core shares.
    hot: Array.from({ length: HOT }, (_, n) => slugOf(n % links)),
    cold: Array.from({ length: Math.min(cold, COLD) }, (_, n) => slugOf(HOT + n * step)),
    coldShare: cold > 0 ? 0.01 : 0,
    heads,
  };
}
