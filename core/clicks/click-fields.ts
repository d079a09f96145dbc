/** A click as the API and webhooks show it. Unknown places and referers are empty. */
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
  is_bot: boolean;
};

/** The source of a click. Unknown fields are empty. */
export type ClickDetails = Pick<ClickRecord, 'country' | 'city' | 'device' | 'browser' | 'os' | 'referer'>;
