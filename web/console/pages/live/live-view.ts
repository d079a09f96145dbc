import { isChannel } from '../../../../core/enrich/channels.ts';
import { useUrlParameters } from '../../parts/url-parameters.ts';

/** Filters of the page; null: no filter. */
export type LiveFilter = {
  link: string | null;
  channel: string | null;
  country: string | null;
  bots: boolean;
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const COUNTRY = /^[A-Z]{2}$/;

/** Reads the filter from the page's query; invalid values are ignored. */
function filterOf(search: URLSearchParams): LiveFilter {
  const read = (name: string, isRight: (value: string) => boolean) => {
    const value = search.get(name) ?? '';
    return isRight(value) ? value : null;
  };
  return {
    link: read('link', (value) => UUID.test(value))?.toLowerCase() ?? null,
    channel: read('channel', isChannel),
    country: read('country', (value) => COUNTRY.test(value)),
    bots: search.get('bots') === 'include',
  };
}

/** The filter in the page's URL, and a setter. */
export function useLiveFilter(): {
  filter: LiveFilter;
  change: (changes: { [Name in keyof LiveFilter]?: string | null }) => void;
} {
  const [search, change] = useUrlParameters();
  return { filter: filterOf(search), change: (changes) => change(changes, { replace: true }) };
}

/** Parameters of `GET /clicks` and of the stream. */
export const clicksQuery = ({ link, bots, channel, country }: LiveFilter) => ({
  link_ids: link,
  bots: bots ? 'include' : null,
  channel,
  country,
});
