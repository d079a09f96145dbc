import { inferChannel } from '../../core/enrich/infer-channel.ts';
import { preferredLanguage } from '../../core/enrich/languages.ts';
import { NO_LABELS, SharedLabels } from '../../core/events/click-labels.ts';
import type { ClickEvent, Unstamped } from '../../core/events/types.ts';
import { uuidToBytes, uuidv7 } from '../../core/ids.ts';
import { seededRandom } from '../../core/seeded-random.ts';
import { mapped, visitorsFrom } from './visitors.ts';

const WORKSPACES = 20;
const LINKS = 10_000;

/**
 * Generates clicks of realistic visitors as ingest writes them, on links of skewed popularity.
 *
 * @param seed determines the visitors; ids are always new
 */
export function clicksFrom(seed: number, count: number): Unstamped<ClickEvent>[] {
  const random = seededRandom(seed + 1);
  const visitor = visitorsFrom(seed);
  const ids = (n: number) => Array.from({ length: n }, () => uuidToBytes(uuidv7()));
  const [workspaces, links] = [ids(WORKSPACES), ids(LINKS)];
  const labels = Array.from(
    { length: LINKS },
    (_, link) =>
      new SharedLabels({
        ...NO_LABELS,
        slug: `b${link.toString(16).padStart(8, '0')}`,
        utmSource: 'facebook',
        utmMedium: 'social',
        utmCampaign: `spring-sale-${link % 50}`,
      }),
  );
  return Array.from({ length: count }, () => {
    const { userAgent, referer, languages, address } = visitor();
    const link = Math.floor(LINKS ** random()) - 1;
    return {
      kind: 'click',
      workspaceId: workspaces[link % WORKSPACES] as Uint8Array,
      linkId: links[link] as Uint8Array,
      visitorId: uuidToBytes(uuidv7()),
      labels: labels[link] ?? NO_LABELS,
      language: preferredLanguage(languages),
      channel: inferChannel(referer, userAgent),
      referer,
      userAgent,
      address: mapped(address),
      flags: 0,
      ad: null,
    };
  });
}
