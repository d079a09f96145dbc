/** A click as the API and its webhooks show it. Unknown places and referers are empty. */
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

/** Where a click came from. What is not known is empty. */
export type ClickDetails = Pick<ClickRecord, 'country' | 'city' | 'device' | 'browser' | 'os' | 'referer'>;
