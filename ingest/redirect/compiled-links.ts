import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import type { BlockedDomains } from '../../core/links/blocked-domains.ts';
import type { VisitorIds } from '../../core/tracking/visitors.ts';
import type { OtherRecord, SlugRecord } from '../link-table/records.ts';
import type { Resolver } from '../link-table/resolver.ts';
import type { LinkTable } from '../link-table/table.ts';
import { createAdmissionFilter } from './admission-filter.ts';
import { CompiledLink } from './compiled-link.ts';

/** What a slug names, compiled. */
export type SlugTarget = CompiledLink | OtherRecord;

export type CompiledLinks = {
  /** Returns the target from memory; undefined when only the disk or PostgreSQL knows. */
  known(slug: string): SlugTarget | undefined;
  /** @throws {LookupUnavailable} */
  resolve(slug: string): Promise<SlugTarget | null>;
};

/** Compiled links, about 1 KiB each. */
const CAPACITY = 32_768;

export function createCompiledLinks(given: {
  table: LinkTable;
  resolver: Resolver;
  visitorIds: VisitorIds;
  domains: BlockedDomains;
}): CompiledLinks {
  const { table, resolver, visitorIds, domains } = given;
  const ready = createBoundedCache<string, CompiledLink>(CAPACITY);
  const admits = createAdmissionFilter(2 * CAPACITY);
  // Links are cached under their exact spelling, which changes name too; pages are not cached.
  table.listen({
    slugChanged: (slug) => ready.delete(slug),
    usedSince(slug) {
      const link = ready.peek(slug);
      const used = link?.used === true;
      if (link !== undefined) link.used = false;
      return used;
    },
  });

  domains.listen(() => ready.clear());

  function targetOf(record: SlugRecord): SlugTarget {
    return record.kind === 'link' ? new CompiledLink(record, visitorIds, domains) : record;
  }

  return {
    known(slug) {
      const link = ready.get(slug);
      if (link !== undefined) {
        link.used = true;
        return link;
      }
      const record = resolver.known(slug);
      if (record === null) return undefined;
      const target = targetOf(record);
      // `resolver.known` has marked it as used.
      if (target.kind === 'link' && admits(slug)) ready.set(slug, target);
      return target;
    },
    async resolve(slug) {
      const record = await resolver.resolve(slug);
      return record === null || (record.kind === 'link' && record.slug !== slug) ? null : targetOf(record);
    },
  };
}
