import { COUNTRY_SUFFIXES } from './host-patterns.ts';
import { channelOfOrigin } from './infer-channel.ts';
import type { RefererOrigin } from './referer.ts';
import { SOURCE_HOSTS, SOURCES_OF_CHANNELS } from './source-hosts.ts';
import type { SourceKind } from './source-kinds.ts';

/** Where a visitor came from: `Google`, `search`. */
export type Source = { readonly source: string; readonly sourceKind: SourceKind };

export const DIRECT: Source = { source: 'direct', sourceKind: 'direct' };

const byName = sourceTable();

/**
 * Returns who owns a referer's host or app. A host or app that no table lists is named by the host without `www.`, or
 * by the app's package.
 *
 * @param origin null: there is no referer
 */
export function sourceOf(origin: RefererOrigin | null): Source {
  if (origin === null) return DIRECT;
  const { name, app } = origin;
  const found = (app ? longestPrefix(name) : null) ?? longestSuffix(name);
  if (found) return found;
  const channel = channelOfOrigin(origin);
  const [owner, kind] = channel === null ? [null, 'site' as const] : SOURCES_OF_CHANNELS[channel];
  const isApp = app && owner === null && kind === 'site';
  return { source: owner ?? name.replace(/^www\./, ''), sourceKind: isApp ? 'app' : kind };
}

/** Owners by their name in lower case. */
const spellings = new Map(
  [
    ...[...byName.values()].map(({ source }) => source),
    ...Object.values(SOURCES_OF_CHANNELS).map(([owner]) => owner),
  ].flatMap((owner) => (owner === null ? [] : [[owner.toLowerCase(), owner] as const])),
);

/** Returns a source as clicks have it, from any case: `Google` for `google`, a host in lower case. */
export function sourceName(value: string): string {
  const folded = value.toLowerCase();
  return spellings.get(folded) ?? folded;
}

function longestSuffix(host: string): Source | null {
  for (let at = 0; ; ) {
    const found = byName.get(host.slice(at));
    if (found) return found;
    const dot = host.indexOf('.', at);
    if (dot < 0) return null;
    at = dot + 1;
  }
}

function longestPrefix(pkg: string): Source | null {
  for (let end = pkg.length; end > 0; end = pkg.lastIndexOf('.', end - 1)) {
    const found = byName.get(pkg.slice(0, end));
    if (found) return found;
  }
  return null;
}

function sourceTable(): ReadonlyMap<string, Source> {
  const table = new Map<string, Source>();
  for (const [kind, owners] of Object.entries(SOURCE_HOSTS)) {
    for (const [source, entries] of Object.entries(owners)) {
      const one: Source = Object.freeze({ source, sourceKind: kind as SourceKind });
      for (const entry of entries.split(' ')) for (const name of expanded(entry)) table.set(name, one);
    }
  }
  return table;
}

/** Returns the hosts of an entry; `google.*` covers every country domain. */
function expanded(entry: string): string[] {
  return entry.endsWith('.*') ? COUNTRY_SUFFIXES.map((suffix) => entry.slice(0, -1) + suffix) : [entry];
}
