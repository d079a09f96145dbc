import { type NetworkClick, NO_AD } from '../events/ad-clicks.ts';

/** How a row names its link. */
export type LinkName =
  | { kind: 'id'; id: string }
  /** `host` in lower-case ASCII; null: the row names none. */
  | { kind: 'name'; host: string | null; slug: string };

/** A click of another service, or a count of clicks. Unknown text is empty. */
export type ClickRow = {
  /** Microseconds since the epoch. */
  ts: number;
  /** Null: the row names none. */
  link: LinkName | null;
  /** ISO 3166-1 code. */
  country: string;
  /** ISO 3166-2 code, or a name. */
  region: string;
  city: string;
  /** One of `DEVICES`. */
  device: string;
  browser: string;
  os: string;
  /** An address, or a host alone. */
  referer: string;
  userAgent: string;
  /** The source's name of the visitor; empty: the source does not recognize visitors. */
  visitor: string;
  /** One of `CHANNELS`; empty: the link's. */
  channel: string;
  language: string;
  trigger: 'link' | 'qr';
  utmSource: string;
  utmMedium: string;
  utmCampaign: string;
  utmTerm: string;
  utmContent: string;
  /** Rule and variant of the link that decided the destination. */
  ruleId: string;
  variantId: string;
  /** Number of the visitor's autonomous system; 0: unknown. */
  asn: number;
  ad: NetworkClick;
  /** How many clicks the row represents. */
  count: number;
  /** Null: by the user agent. */
  isBot: boolean | null;
  /**
   * Identifies the row in its source, for sources whose rows have an id or grow; empty: all of its fields identify it.
   * A second row with the same name, link and time is the same row.
   */
  sourceId: string;
};

/** A click whose fields are all unknown. */
export const NOTHING_KNOWN: Omit<ClickRow, 'ts'> = {
  link: null,
  country: '',
  region: '',
  city: '',
  device: '',
  browser: '',
  os: '',
  referer: '',
  userAgent: '',
  visitor: '',
  channel: '',
  language: '',
  trigger: 'link',
  utmSource: '',
  utmMedium: '',
  utmCampaign: '',
  utmTerm: '',
  utmContent: '',
  ruleId: '',
  variantId: '',
  asn: 0,
  ad: NO_AD,
  count: 1,
  isBot: null,
  sourceId: '',
};
