/** A click as `GET /clicks`, its live stream and the visitors show it. Unknown places and referers are empty. */
export type Click = {
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
