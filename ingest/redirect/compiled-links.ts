import { createBoundedCache } from '../../core/bounded-cache.ts';
import type { VisitorIds } from '../../core/visitors.ts';
import type { OtherRecord, SlugRecord } from '../link-table/records.ts';
import type { Resolver } from '../link-table/resolver.ts';
import type { LinkTable } from '../link-table/table.ts';
import { type CompiledLink, compileLink } from './compiled-link.ts';

/** What a slug names, ready to answer with. */
export type SlugTarget = { kind: 'link'; link: CompiledLink } | OtherRecord;

export type CompiledLinks = {
  /** From memory; undefined when only PostgreSQL could tell. */
  known(slug: string): SlugTarget | undefined;
  /** @throws {StoreUnavailable} */
  ask(slug: string): Promise<SlugTarget | null>;
};

/** Links that are being clicked, ready; one takes one to two KiB. The others are compiled at their next click. */
const CAPACITY = 32_768;

export function createCompiledLinks(given: {
  table: LinkTable;
  resolver: Resolver;
  visitorIds: VisitorIds;
}): CompiledLinks {
  const { table, resolver, visitorIds } = given;
  /** `wanted`: since the table asked. */
  const ready = createBoundedCache<string, { target: SlugTarget; wanted: boolean }>(CAPACITY);
  // A link stands under its exact spelling only, which is the one that the change names; pages are not kept here.
  table.listen({
    slugChanged: (slug) => ready.delete(slug),
    wantedSince(slug) {
      const compiled = ready.peek(slug);
      const wanted = compiled?.wanted === true;
      if (compiled !== undefined) compiled.wanted = false;
      return wanted;
    },
  });

  function targetOf(record: SlugRecord): SlugTarget {
    return record.kind === 'link' ? { kind: 'link', link: compileLink(record, visitorIds) } : record;
  }

  return {
    known(slug) {
      const compiled = ready.get(slug);
      if (compiled !== undefined) {
        compiled.wanted = true;
        return compiled.target;
      }
      const record = resolver.known(slug);
      if (record === null) return undefined;
      const target = targetOf(record);
      // The table has just noted that it is wanted.
      if (target.kind === 'link') ready.set(slug, { target, wanted: false });
      return target;
    },
    async ask(slug) {
      const record = await resolver.ask(slug);
      return record === null || (record.kind === 'link' && record.slug !== slug) ? null : targetOf(record);
    },
  };
}
