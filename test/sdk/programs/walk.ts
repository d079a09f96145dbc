// A client of the generated SDK. generated-clients.test.ts compiles and bundles it in a temporary folder beside
// `generated/`.
import { createClient } from './generated/client/index.js';
import { clicksList, linksCreateBulk, linksList, referralsReportSignup } from './generated/index.js';

const client = createClient({
  baseUrl: process.env.API_URL,
  auth: process.env.API_KEY,
  throwOnError: true,
});

const rows = Array.from({ length: 400 }, (_, index) => ({
  destination_url: 'https://shop.example/',
  name: `Campaign ${index}`,
  channel: 'newsletter' as const,
}));
const { data: created } = await linksCreateBulk({ client, body: { links: rows }, throwOnError: true });
const made = created.results.flatMap(({ body }) => ('links' in body ? body.links.map(({ id }) => id) : []));

const records: string[] = [];
let cursor: string | null | undefined;
do {
  const { data } = await linksList({
    client,
    query: { view: 'records', limit: 37, ...(cursor && { cursor }) },
    throwOnError: true,
  });
  // The types distinguish the two shapes of the response.
  if (!('next_cursor' in data)) throw new Error('not a page of records');
  records.push(...data.links.map(({ id }) => id));
  cursor = data.next_cursor;
} while (cursor);

const { data: performance } = await linksList({ client, throwOnError: true });
if (!('window' in performance)) throw new Error('not a report');

const clicks: string[] = [];
let before: string | null | undefined;
do {
  const { data } = await clicksList({
    client,
    query: { limit: 333, ...(before && { before }) },
    throwOnError: true,
  });
  clicks.push(...data.clicks.map(({ id }) => id));
  before = data.next_cursor;
} while (before);

const { data: signup } = await referralsReportSignup({
  client,
  body: { new_user_external_user_id: 'nobody' },
  throwOnError: true,
});

console.log(
  JSON.stringify({
    made,
    records,
    clicks,
    from: performance.window.from,
    matched: signup.matched,
  }),
);
