import { type Html, html } from './html.ts';
import type { Page } from './page.ts';

type Card = { title: string; path: string; text: string };

const CARDS: readonly Card[] = [
  {
    title: 'Quickstart',
    path: '/docs/quickstart',
    text: 'Links, referrals, webhooks, and a bio page in ten minutes.',
  },
  {
    title: 'API reference',
    path: '/docs/api',
    text: 'Every operation, with samples in curl, Node.js, and Python.',
  },
  { title: 'Pixel', path: '/docs/pixel', text: 'Report visits, signups, and orders from your site.' },
  { title: 'Referrals', path: '/docs/referrals', text: 'Run a program: enrollments, rewards, and payouts.' },
  { title: 'Webhooks', path: '/docs/webhooks', text: 'Signed events with retries, and how to verify them.' },
  { title: 'Analytics', path: '/docs/analytics', text: 'Query any metric by any dimension.' },
  { title: 'Errors', path: '/docs/errors', text: 'Every error code, with what to do about it.' },
  {
    title: 'Operations',
    path: '/docs/operations',
    text: 'Install, back up, upgrade, and watch the service.',
  },
];

const FIRST_CALLS: readonly Card[] = [
  { title: 'Check your key', path: '/docs/api/me.get', text: 'GET /api/v1/me' },
  { title: 'Create a link', path: '/docs/api/links.create', text: 'POST /api/v1/links' },
  { title: 'Read the newest clicks', path: '/docs/api/clicks.list', text: 'GET /api/v1/clicks' },
  { title: 'Query figures', path: '/docs/api/analytics.query', text: 'POST /api/v1/analytics/query' },
];

/** Returns the first page of the documentation. */
export function homePage(): Page {
  const list = (cards: readonly Card[]): Html =>
    html`<ul class="cards">${cards.map(
      ({ title, path, text }) => html`<li><a href="${path}">${title}</a><p>${text}</p></li>`,
    )}</ul>`;
  const asList = (cards: readonly Card[]) =>
    cards.map(({ title, path, text }) => `- [${title}](${path}.md): ${text}`).join('\n');
  return {
    path: '/docs',
    title: 'Hoplog documentation',
    description:
      'Guides and the API reference of Hoplog: short links, exact click streams, reports, and referral programs.',
    above: [],
    body: html`<p class="lead">Short links, exact click streams, reports, and referral programs, in your own database.</p>
${list(CARDS)}
<h2 id="first-calls">First calls</h2>
${list(FIRST_CALLS)}
<h2 id="programs">For programs</h2>
<p>The <a href="/api/v1/openapi.json">OpenAPI document</a> describes the API. Each page is also Markdown at its address
with <code>.md</code>; <a href="/llms.txt"><code>/llms.txt</code></a> lists them, and
<a href="/llms-full.txt"><code>/llms-full.txt</code></a> has all of them in one file.</p>`,
    markdown: ['# Hoplog documentation', asList(CARDS), '## First calls', asList(FIRST_CALLS), ''].join(
      '\n\n',
    ),
    found: [],
  };
}
