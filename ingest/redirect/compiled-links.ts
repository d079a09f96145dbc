import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import type { BlockedDomains } from '../../core/links/blocked-domains.ts';
import { slugKey } from '../../core/links/slugs.ts';
import type { VisitorIds } from '../../core/tracking/visitors.ts';
import type { Hosts } from '../link-table/hosts.ts';
import { partsOf, prefixName } from '../link-table/names.ts';
import type { LinkRecord, OtherRecord, SlugRecord } from '../link-table/records.ts';
import type { Resolver } from '../link-table/resolver.ts';
import type { LinkTable } from '../link-table/table.ts';
import { createAdmissionFilter } from './admission-filter.ts';
import { CompiledLink } from './compiled-link.ts';

/** The target of a name, compiled. */
export type SlugTarget = CompiledLink | OtherRecord;

export type CompiledLinks = {
  /** Returns the target of a name (see `names.ts`) from memory; undefined when only the disk or PostgreSQL knows. */
  known(name: string): SlugTarget | undefined;
  /** Returns whether slugs of several segments begin with this one, or may: memory does not know all prefixes yet. */
  mayGoOn(domainNumber: number, segment: string): boolean;
  /** @throws {LookupUnavailable} */
  resolve(name: string): Promise<SlugTarget | null>;
};

/** Compiled links, about 1 KiB each. */
const CAPACITY = 32_768;

export function createCompiledLinks(given: {
  table: LinkTable;
  resolver: Resolver;
  hosts: Hosts;
  visitorIds: VisitorIds;
  domains: BlockedDomains;
  /** Whether memory holds all names but those of links. */
  knowsOthers(): boolean;
}): CompiledLinks {
  const { knowsOthers, table, resolver, hosts, visitorIds, domains } = given;
  const ready = createBoundedCache<string, CompiledLink>(CAPACITY);
  const admits = createAdmissionFilter(2 * CAPACITY);
  // Links are cached under their own spelling, which changes name too; pages are not cached.
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

  /**
   * @param name that the visitor requested: the record's or an alias's, in any case of letters. The click gets the
   * link's spelling.
   */
  function targetOf(record: SlugRecord, name: string): SlugTarget {
    if (record.kind !== 'link') return record;
    const { domainNumber, slug } = partsOf(name);
    const domain = hosts.nameOf(domainNumber);
    const isItsOwn = slugKey(slug) === slugKey(record.slug);
    return new CompiledLink(record, visitorIds, domains, { domain, slug: isItsOwn ? record.slug : slug });
  }

  function isLink(record: SlugRecord | null): record is LinkRecord {
    return record?.kind === 'link';
  }

  function used(name: string): CompiledLink | undefined {
    const link = ready.get(name);
    if (link !== undefined) link.used = true;
    return link;
  }

  return {
    known(name) {
      const link = used(name);
      if (link !== undefined) return link;
      const record = resolver.known(name);
      if (record === null || record.kind === 'prefix') return undefined;
      if (record.kind === 'alias') {
        // Not cached: a change of the link names the link, not its aliases.
        const moved = resolver.known(record.content);
        return isLink(moved) ? targetOf(moved, name) : undefined;
      }
      const spelled = record.name === name ? undefined : used(record.name);
      if (spelled !== undefined) return spelled;
      const target = targetOf(record, name);
      // `resolver.known` has marked it as used.
      if (target.kind === 'link' && admits(record.name)) ready.set(record.name, target);
      return target;
    },
    mayGoOn: (domainNumber, segment) =>
      resolver.known(prefixName(domainNumber, segment)) !== null || !knowsOthers(),
    async resolve(name) {
      const record = await resolver.resolve(name);
      if (record?.kind === 'alias') {
        const moved = resolver.known(record.content) ?? (await resolver.resolve(record.content));
        return isLink(moved) ? targetOf(moved, name) : null;
      }
      return record === null || record.kind === 'prefix' ? null : targetOf(record, name);
    },
  };
}
