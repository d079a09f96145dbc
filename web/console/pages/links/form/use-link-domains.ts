import { useApi } from '../../../api/queries.ts';
import type { ResponseOf } from '../../../api/responses.ts';
import { useSession } from '../../../api/session.ts';
import { OWN_HOST } from './own-host.ts';

type Domains = ResponseOf<'/domains'>;

/** A workspace has at most 100 domains: one page has them all. */
const MOST_DOMAINS = 100;

/** The domains of the workspace on which it can make links. None without a paid plan. */
export function useLinkDomains() {
  const { workspace, urls } = useSession();
  const read = useApi<Domains>(workspace.paid ? '/domains' : null, { limit: MOST_DOMAINS });
  const proven = (read.data?.domains ?? []).filter(({ status }) => status !== 'pending');
  const standard = proven.find(({ is_default }) => is_default)?.domain ?? null;
  /** The host of a draft's domain; null: the deployment's own. */
  const hostOf = (domain: string): string | null =>
    domain === '' ? standard : domain === OWN_HOST ? null : domain;
  return {
    hosts: proven.map(({ domain }) => domain).toSorted(),
    hostOf,
    /** The address of a slug on a draft's domain. */
    shortUrl: (domain: string, slug: string): string => {
      const host = hostOf(domain);
      return host === null ? `${urls.short_url}/${slug}` : `https://${host}/${slug}`;
    },
  };
}
