import { createBoundedCache } from '../caching/bounded-cache.ts';
import { memoize } from '../caching/memoize.ts';
import { agentPartName } from '../enrich/agent-names.ts';
import { continentOf } from '../enrich/continents.ts';
import type { Device } from '../enrich/devices.ts';
import type { EnrichedClick } from '../enrich/enrich.ts';
import type { Place } from '../enrich/geo.ts';
import { inferChannel } from '../enrich/infer-channel.ts';
import { cleanReferer } from '../enrich/referer.ts';
import { regionCode } from '../enrich/region-codes.ts';
import { sourceOf } from '../enrich/sources.ts';
import { type StoredReferer, storedReferer } from '../enrich/stored-referer.ts';
import { createUserAgents, type UserAgentProfile } from '../enrich/user-agents.ts';
import { type NetworkClick, NO_AD } from '../events/ad-clicks.ts';
import type { ClickLabels } from '../events/click-labels.ts';
import type { ClickRow } from './click-row.ts';

/** The link of an imported click. */
export type ImportedLink = {
  id: string;
  /** The present slug. */
  slug: string;
  /** Empty: the deployment's own. */
  domain: string;
  /** Null for a Smart Link. */
  channel: string | null;
};

const REMEMBERED = 50_000;
/** A referer that is a host alone, as reports of other services have it. */
const HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i;
const REGION_CODE = /^[A-Z]{2}-[A-Z0-9]{1,3}$/;

/** Returns a function that derives the stored fields of a click, as workers derive them for clicks of visitors. */
export function createRowEnricher(): (row: ClickRow, link: ImportedLink) => EnrichedClick {
  const userAgents = createUserAgents();
  const places = createBoundedCache<string, Place>(REMEMBERED);
  const agents = createBoundedCache<string, UserAgentProfile>(REMEMBERED);
  const labels = createBoundedCache<string, ClickLabels>(REMEMBERED);
  const ads = createBoundedCache<string, NetworkClick>(REMEMBERED);
  const referers = memoize(refererOf, REMEMBERED);

  /** Returns the same object for each use of a name: storing many clicks looks each object up once. */
  function shared<T>(
    cache: { get(key: string): T | undefined; set(key: string, value: T): void },
    key: string,
    make: () => T,
  ): T {
    const found = cache.get(key);
    if (found !== undefined) return found;
    const made = make();
    cache.set(key, made);
    return made;
  }

  return (row, link) => {
    const { country, region, city, asn, device, browser, os, userAgent, ad } = row;
    const agent = shared(agents, `${device}\0${browser}\0${os}\0${userAgent}`, () => {
      const profile = userAgent === '' ? UNKNOWN_AGENT : userAgents.profileOf(userAgent);
      return {
        device: device === '' ? profile.device : (device as Device),
        browser: browser === '' ? profile.browser : agentPartName(browser),
        os: os === '' ? profile.os : agentPartName(os),
        bot: profile.bot,
      };
    });
    return {
      place: shared(places, `${country}\0${region}\0${city}\0${asn}`, () => placeOf(row)),
      agent,
      referer: referers(row.referer),
      labels: shared(
        labels,
        `${link.id}\0${row.utmSource}\0${row.utmMedium}\0${row.utmCampaign}\0${row.utmTerm}\0${row.utmContent}\0${row.ruleId}\0${row.variantId}`,
        () => labelsOf(row, link),
      ),
      channel: row.channel || (link.channel ?? inferChannel(row.referer, userAgent)),
      language: row.language,
      trigger: row.trigger,
      ad:
        ad === NO_AD
          ? ad
          : shared(ads, `${ad.network}\0${ad.param}\0${ad.id}`, () => Object.freeze({ ...ad })),
      isBot: row.isBot ?? agent.bot,
    };
  };
}

/** Unknown is empty, not `Other`: the source does not say. */
const UNKNOWN_AGENT = { device: '' as Device, browser: '', os: '', bot: false };

function placeOf({ country, region, city, asn }: ClickRow): Place {
  const code = region.toUpperCase();
  return Object.freeze({
    country,
    city,
    continent: continentOf(country),
    region: REGION_CODE.test(code) ? code : regionCode(country, region),
    asn,
  });
}

function labelsOf(row: ClickRow, { domain, slug }: ImportedLink): ClickLabels {
  const { utmSource, utmMedium, utmCampaign, utmTerm, utmContent, ruleId, variantId } = row;
  return Object.freeze({
    domain,
    slug,
    utmSource,
    utmMedium,
    utmCampaign,
    utmTerm,
    utmContent,
    ruleId,
    variantId,
  });
}

function refererOf(given: string): StoredReferer {
  if (!HOST.test(given)) return storedReferer(given);
  const host = given.toLowerCase();
  return Object.freeze({ text: cleanReferer(given), host, ...sourceOf({ name: host, app: false }) });
}
