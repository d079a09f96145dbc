import { dotted } from '../../ingest/http/addresses.ts';
import { slugOf } from '../data/links.ts';
import { visitorsFrom } from '../data/visitors.ts';
import { headOf, type LoadPlan } from './plan.ts';

/** Number of visitors that a generator sends in rotation. */
const HEADS = 2_000;
/** Number of hot links. */
const HOT = 10_000;
/** Number of cold links; more would slow the generator. */
const COLD = 200_000;

/**
 * Returns visitors of the links of `fillLinks`: 99 % request one of 10,000 hot links, the others a cold one.
 *
 * @param links number of links
 * @param addresses whether a proxy sends the address of each visitor
 */
export function clicksOnLinks(
  links: number,
  addresses = false,
): Pick<LoadPlan, 'hot' | 'cold' | 'coldShare' | 'heads'> {
  const visitor = visitorsFrom(7);
  const heads = Array.from({ length: HEADS }, () => {
    const { userAgent, referer, languages, address } = visitor();
    return headOf({ userAgent, referer, languages, ...(addresses ? { address: dotted(address) } : {}) });
  });
  const cold = Math.max(0, links - HOT);
  const step = Math.max(1, Math.floor(cold / COLD));
  return {
    // The same number with few links, because the data of the generator uses shared CPU caches.
    hot: Array.from({ length: HOT }, (_, n) => slugOf(n % links)),
    cold: Array.from({ length: Math.min(cold, COLD) }, (_, n) => slugOf(HOT + n * step)),
    coldShare: cold > 0 ? 0.01 : 0,
    heads,
  };
}
