import { isKeptSlug } from '../../core/links/slugs.ts';
import { withoutTail } from './typed-address.ts';
import { atSlug, slugOf, type Visit } from './visit.ts';

/** Segments of the longest slug. */
const MOST_SEGMENTS = 5;

/**
 * Returns the visit once for each slug of several segments that its address begins with, longest first. A slug that is
 * the whole address loses the punctuation that texts leave behind it.
 */
export function longerAddresses(visit: Visit): Visit[] {
  // As sent; each segment is decoded once, as the first one was.
  const rest = visit.path.slice(1).split('/');
  const found: Visit[] = [];
  for (let count = Math.min(MOST_SEGMENTS - 1, rest.length); count > 0; count--) {
    const path = rest.slice(count).join('/');
    const slug = [visit.slug, ...rest.slice(0, count).map(slugOf)].join('/');
    const whole = count === rest.length && !isKeptSlug(slug) ? withoutTail(slug) : slug;
    if (whole.includes('/') && isKeptSlug(whole)) {
      found.push(atSlug(visit, whole, count === rest.length ? '' : `/${path}`));
    }
  }
  return found;
}
