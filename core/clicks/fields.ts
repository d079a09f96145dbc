// Browsers run this file too.
import { SOURCE_KINDS } from '../enrich/source-kinds.ts';
import { AD_NETWORKS } from './ad-networks.ts';
import { TRIGGERS } from './triggers.ts';

/** A part of an enriched click that many clicks share. */
export type SharedPart = 'place' | 'agent' | 'referer' | 'labels' | 'ad';

/** One field of a click. */
export type ClickField = {
  /** Unknown is an empty text, and 0 as a number. */
  readonly type: 'uuid' | 'text' | 'number' | 'boolean';
  /** Unknown is null in the API; stored as zeros. */
  readonly isNullable?: true;
  /** The values that a text may have; left out: any. */
  readonly values?: readonly string[];
  /** Regular expression of a text. */
  readonly pattern?: string;
  /** Text of the API reference. */
  readonly description?: string;
  /** Example of the API reference. */
  readonly example?: string | number | boolean;
  /**
   * The place of the field in an enriched click: a part, and the part's property. Left out for the ids of a click, and
   * for fields with `own`.
   */
  readonly at?: readonly [SharedPart | 'click', string];
  /** The value of every click that was made here; left out: it depends on the click. */
  readonly own?: number | boolean;
  /** Its name as a dimension of reports; left out: it is none. */
  readonly dimension?: string;
  /** Its name in the console's filters; left out: it is not in the list. */
  readonly label?: string;
  /** The console's text for an unknown value; left out: "Unknown". */
  readonly none?: string;
  /** Text from outside, which a spreadsheet might run as a formula. */
  readonly isForeign?: true;
  /** Not among the details of a click in a visitor's journey: the journey shows it elsewhere or not at all. */
  readonly isNoDetail?: true;
};

/**
 * The fields of a click after its id and time, in the order of the API and the export. All code that shows or stores
 * clicks reads this table: a new field is a row here and its column in ClickHouse.
 */
export const CLICK_FIELDS = {
  link_id: {
    type: 'uuid',
    isNullable: true,
    description: 'Null for a visit that led to no link; zeros in SQL.',
    isNoDetail: true,
  },
  visitor_id: { type: 'uuid', isNoDetail: true },
  channel: {
    type: 'text',
    at: ['click', 'channel'],
    isNoDetail: true,
    dimension: 'channel',
    label: 'Channel',
  },
  country: {
    type: 'text',
    at: ['place', 'country'],
    example: 'DE',
    pattern: '^([A-Z]{2})?$',
    description: 'ISO 3166 two-letter code. Empty if unknown.',
    dimension: 'country',
    label: 'Country',
  },
  city: {
    type: 'text',
    at: ['place', 'city'],
    example: 'Berlin',
    isForeign: true,
    description: 'Empty if unknown.',
    dimension: 'city',
    label: 'City',
  },
  device: {
    type: 'text',
    at: ['agent', 'device'],
    example: 'mobile',
    dimension: 'device',
    label: 'Device',
  },
  browser: {
    type: 'text',
    at: ['agent', 'browser'],
    example: 'Safari',
    isForeign: true,
    dimension: 'browser',
    label: 'Browser',
  },
  os: {
    type: 'text',
    at: ['agent', 'os'],
    example: 'iOS',
    isForeign: true,
    dimension: 'os',
    label: 'Operating system',
  },
  referer: {
    type: 'text',
    at: ['referer', 'text'],
    example: 'https://mail.example/',
    isForeign: true,
    description: 'As sent by the browser. Empty if unknown.',
  },
  domain: {
    type: 'text',
    at: ['labels', 'domain'],
    example: '',
    description: 'Host that was opened. Empty for the short-link origin.',
    dimension: 'domain',
    label: 'Domain',
    none: 'Default domain',
  },
  slug: {
    type: 'text',
    at: ['labels', 'slug'],
    example: 'autumn-sale',
    isForeign: true,
    isNoDetail: true,
    description: 'As the visitor asked for it.',
    dimension: 'slug',
    label: 'Slug',
  },
  trigger: {
    type: 'text',
    at: ['click', 'trigger'],
    example: 'link',
    values: TRIGGERS,
    description: '`qr`: a scan of the link’s QR code.',
    dimension: 'trigger',
    label: 'Trigger',
  },
  utm_source: {
    type: 'text',
    at: ['labels', 'utmSource'],
    isForeign: true,
    description: 'As the destination got it. Empty if it got none.',
    dimension: 'utm_source',
    label: 'UTM source',
    none: 'None',
  },
  utm_medium: {
    type: 'text',
    at: ['labels', 'utmMedium'],
    isForeign: true,
    dimension: 'utm_medium',
    label: 'UTM medium',
    none: 'None',
  },
  utm_campaign: {
    type: 'text',
    at: ['labels', 'utmCampaign'],
    isForeign: true,
    dimension: 'utm_campaign',
    label: 'UTM campaign',
    none: 'None',
  },
  utm_term: {
    type: 'text',
    at: ['labels', 'utmTerm'],
    example: '',
    isForeign: true,
    dimension: 'utm_term',
    label: 'UTM term',
    none: 'None',
  },
  utm_content: {
    type: 'text',
    at: ['labels', 'utmContent'],
    example: '',
    isForeign: true,
    dimension: 'utm_content',
    label: 'UTM content',
    none: 'None',
  },
  ad_network: {
    type: 'text',
    at: ['ad', 'network'],
    example: '',
    values: ['', ...AD_NETWORKS],
    description: 'Advertising network that gave the click an id. Empty if none did.',
    dimension: 'ad_network',
    label: 'Ad network',
    none: 'No ad',
  },
  ad_click_param: {
    type: 'text',
    at: ['ad', 'param'],
    example: '',
    description: 'Parameter of the address that has the id: `gclid`. Empty if none did.',
  },
  ad_click_id: {
    type: 'text',
    at: ['ad', 'id'],
    example: '',
    isForeign: true,
    description: 'The network’s id of the click. Empty if there is none.',
  },
  referer_host: {
    type: 'text',
    at: ['referer', 'host'],
    example: 'mail.example',
    isForeign: true,
    description: 'Host of the referer, or package of an app. Empty if unknown.',
    dimension: 'referer_host',
    label: 'Referrer',
    none: 'Direct / none',
  },
  source: {
    type: 'text',
    at: ['referer', 'source'],
    example: 'mail.example',
    isForeign: true,
    description:
      'Who owns the host or app of the referer: `Google`, `ChatGPT`. Else the host without `www.`; `direct` without a referer.',
    dimension: 'source',
    label: 'Source',
  },
  source_kind: {
    type: 'text',
    at: ['referer', 'sourceKind'],
    example: 'site',
    values: ['', ...SOURCE_KINDS],
    description: 'Kind of the source. `direct`: without a referer. Empty if unknown.',
    dimension: 'source_kind',
    label: 'Kind of source',
  },
  continent: {
    type: 'text',
    at: ['place', 'continent'],
    example: 'EU',
    pattern: '^(AF|AN|AS|EU|NA|OC|SA)?$',
    description: 'Two-letter code. Empty if unknown.',
    dimension: 'continent',
    label: 'Continent',
  },
  region: {
    type: 'text',
    at: ['place', 'region'],
    example: 'DE-BE',
    description: 'ISO 3166-2 code. Empty if unknown.',
    dimension: 'region',
    label: 'Region',
  },
  language: {
    type: 'text',
    at: ['click', 'language'],
    example: 'de',
    description: 'Primary subtag of the language that the visitor prefers most. Empty if unknown.',
    dimension: 'language',
    label: 'Language',
  },
  rule_id: {
    type: 'text',
    at: ['labels', 'ruleId'],
    example: '',
    isForeign: true,
    description: 'Rule that decided the destination. Empty if none did.',
    dimension: 'rule',
  },
  variant_id: {
    type: 'text',
    at: ['labels', 'variantId'],
    example: '',
    isForeign: true,
    description: 'Variant of the link’s split. Empty if there is none.',
    dimension: 'variant',
  },
  asn: {
    type: 'number',
    at: ['place', 'asn'],
    example: 3320,
    description: 'Number of the visitor’s autonomous system. 0 if unknown.',
    dimension: 'asn',
  },
  imported: {
    type: 'boolean',
    own: false,
    example: false,
    description: 'Whether it was imported from another service.',
  },
  count: {
    type: 'number',
    own: 1,
    example: 1,
    description:
      'Clicks that it stands for: 1, or more where an imported source has only counts. Its visitors are then unknown.',
    isNoDetail: true,
  },
  is_bot: { type: 'boolean', at: ['click', 'isBot'], example: false, isNoDetail: true },
} as const satisfies Record<string, ClickField>;
