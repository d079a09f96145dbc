/** A link used in the snippets. */
export type SnippetLink = { id: string; slug: string; short_url: string };

export type SnippetValues = {
  /** Base URL of the API, with `/api/v1`. */
  api: string;
  /** Origin of the short links. */
  shortUrl: string;
  /** A domain that new links may point to. */
  domain: string;
  /** Lower-case ISO 4217 code. */
  currency: string;
  /** The newest link, or null. */
  link: SnippetLink | null;
  /** Start of a poll, ISO 8601. */
  since: string;
};

export type Snippet = {
  /** In the page's URL. */
  key: string;
  title: string;
  about: string;
  /** Titled texts to copy. */
  parts: { label: string; code: string }[];
};

/** Placeholder without a link. */
const NO_LINK: SnippetLink = { id: '00000000-0000-0000-0000-000000000000', slug: '', short_url: '' };
/** A visitor ID, as in `_vid`. */
const VISITOR = '5b104370-c9bd-8db2-8a30-83f8041ed7fd';

const KEY_LINE = 'KEY=lk_live_...   # a secret key';
const AUTH = `-H "Authorization: Bearer $KEY"`;

/** A curl command that sends JSON. The body must not contain a single quote. */
const post = (url: string, body: string) =>
  `curl '${url}' \\\n  ${AUTH} -H 'Content-Type: application/json' \\\n  -d '${body}'`;

/** Snippets for each use of the API, for one workspace. */
export function snippetsFor(values: SnippetValues): Snippet[] {
  return [createLink(values), readClicks(values), trackSite(values), trackServer(values), verify()];
}

function createLink({ api, domain }: SnippetValues): Snippet {
  const body = `{ "destination_url": "https://${domain}/spring", "name": "Spring sale", "channel": "newsletter" }`;
  return {
    key: 'links',
    title: 'Create a link',
    about:
      'The response has the link with its short_url. All own-site links of a workspace point to one domain.',
    parts: [{ label: 'Create a link with curl', code: `${KEY_LINE}\n\n${post(`${api}/links`, body)}` }],
  };
}

function readClicks({ api, link, since }: SnippetValues): Snippet {
  const { id, short_url } = link ?? NO_LINK;
  const comment = link ? `# Clicks of ${short_url}, newest first` : '# Put the id of a link after link_ids=';
  return {
    key: 'clicks',
    title: 'Read clicks',
    about:
      'Each response has a watermark: pass it as since in the next request, and drop IDs that you have seen. This misses no click, however late it is stored. If next_cursor is not null, pass it as before to get the next page.',
    parts: [
      {
        label: 'Poll for clicks with curl',
        code: `${KEY_LINE}\n\n${comment}\ncurl '${api}/clicks?link_ids=${id}&since=${since}' \\\n  ${AUTH}`,
      },
    ],
  };
}

function trackSite({ shortUrl, currency }: SnippetValues): Snippet {
  return {
    key: 'site',
    title: 'Track your site',
    about:
      'Put this into every page that your links point to. It stores which link a visitor came through, and sends it with identities and orders.',
    parts: [
      {
        label: 'Script for your pages',
        code: `<script>window.hoplog = window.hoplog || []</script>
<script async src="${shortUrl}/pixel.js?key=pk_live_..."></script>`,
      },
      {
        label: 'After a signup, and after a purchase',
        code: `<script>
  hoplog.push(['identify', { email: 'ada@mail.example', external_user_id: 'user-1' }]);
  hoplog.push(['order', { order_id: '1001', amount: 49.9, currency: '${currency}', email: 'ada@mail.example' }]);
</script>`,
      },
    ],
  };
}

function trackServer({ api, currency, link }: SnippetValues): Snippet {
  const identify = `{ "visitor_id": "${VISITOR}", "email": "ada@mail.example", "external_user_id": "user-1" }`;
  const lead = `{ "new_user_external_user_id": "user-1", "email": "ada@mail.example", "ref_code": "${link?.slug ?? 'slug'}" }`;
  const order = `{ "order_id": "1001", "amount": 49.9, "currency": "${currency}", "external_user_id": "user-1" }`;
  return {
    key: 'server',
    title: 'Leads and sales',
    about:
      'Report important events from your server. A short link adds _vid to the destination URL, which is the visitor_id; a referral link also adds ref, which is the ref_code. An order counts once, however often it is reported.',
    parts: [
      {
        label: 'Identify a visitor',
        code: `${KEY_LINE}\n\n${post(`${api}/track/identify`, identify)}`,
      },
      {
        label: 'Report a lead: a referred signup',
        code: `${KEY_LINE}\n\n${post(`${api}/referrals/report-signup`, lead)}`,
      },
      { label: 'Report a sale', code: `${KEY_LINE}\n\n${post(`${api}/track/order`, order)}` },
    ],
  };
}

function verify(): Snippet {
  return {
    key: 'verify',
    title: 'Verify a webhook',
    about:
      'Messages are signed by the Standard Webhooks specification, which has libraries for most languages. The secret is shown when a webhook is created. This server listens on port 4000.',
    parts: [
      { label: 'Install the library', code: 'npm install standardwebhooks' },
      {
        label: 'A receiver in Node: receiver.mjs',
        code: `import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET); // whsec_...
const seen = new Set(); // a message may come twice: keep its id in your database

createServer(async (request, response) => {
  let body = '';
  for await (const text of request.setEncoding('utf8')) body += text;
  try {
    webhook.verify(body, request.headers); // the body as it came, before anything parses it
  } catch {
    response.writeHead(400).end('not genuine');
    return;
  }
  response.writeHead(204).end(); // within 20 seconds, or it comes again
  const { id, type, data } = JSON.parse(body);
  if (seen.has(id)) return;
  seen.add(id);
  console.log(type, data);
}).listen(process.env.PORT ?? 4000);`,
      },
    ],
  };
}
