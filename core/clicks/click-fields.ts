import type { AdNetwork } from '../events/ad-clicks.ts';
import type { Trigger } from '../events/types.ts';

/** A click as the API and webhooks show it. Unknown text is empty. */
export type ClickRecord = {
  id: string;
  ts: string;
  link_id: string;
  visitor_id: string;
  channel: string;
  country: string;
  city: string;
  device: string;
  browser: string;
  os: string;
  referer: string;
  domain: string;
  slug: string;
  trigger: Trigger;
  utm_source: string;
  utm_medium: string;
  utm_campaign: string;
  utm_term: string;
  utm_content: string;
  /** Empty: no advertising network gave the click an id, and so are the next two. */
  ad_network: AdNetwork | '';
  ad_click_param: string;
  ad_click_id: string;
  referer_host: string;
  continent: string;
  region: string;
  language: string;
  rule_id: string;
  variant_id: string;
  /** 0: unknown. */
  asn: number;
  is_bot: boolean;
};

/** The source of a click, without what a journey shows of its link. Unknown text is empty. */
export type ClickDetails = Omit<
  ClickRecord,
  'id' | 'ts' | 'link_id' | 'visitor_id' | 'channel' | 'is_bot' | 'slug'
>;

/** Fields of {@link ClickRecord} after `id` and `ts`, in their order. */
export const CLICK_NAMES = [
  ...(['link_id', 'visitor_id', 'channel', 'country', 'city', 'device', 'browser', 'os', 'referer'] as const),
  ...([
    'domain',
    'slug',
    'trigger',
    'utm_source',
    'utm_medium',
    'utm_campaign',
    'utm_term',
    'utm_content',
  ] as const),
  ...(['ad_network', 'ad_click_param', 'ad_click_id'] as const),
  ...(['referer_host', 'continent', 'region', 'language', 'rule_id', 'variant_id', 'asn', 'is_bot'] as const),
] satisfies readonly (keyof ClickRecord)[];

const NO_DETAILS: readonly string[] = ['link_id', 'visitor_id', 'channel', 'is_bot', 'slug'];

/** Fields of {@link ClickDetails}, in their order. */
export const DETAIL_NAMES = CLICK_NAMES.filter(
  (name): name is keyof ClickDetails => !NO_DETAILS.includes(name),
);
