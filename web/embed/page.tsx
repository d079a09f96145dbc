/** The dashboard page: reads its address, then hands over to the components. */
import { render } from 'preact';
import { accentColors } from './accent.ts';
import { ancestors } from './ancestors.ts';
import { App } from './app.tsx';
import './page.css';
import { createPreviewApi, createReferralsApi } from './referrals-api.ts';
import { reportHeight } from './report-height.ts';
import { readSettings } from './settings.ts';
import { BadSettings } from './states.tsx';
import { localeOf, speak } from './words.ts';

/** The API's origin, if it differs from the page's. */
const DEFAULT_BASE = document.querySelector<HTMLMetaElement>('meta[name="api-base"]')?.content;

const framed = window.parent !== window;
const { documentElement: html } = document;

function start(root: HTMLElement): void {
  const query = new URLSearchParams(location.search);
  if (query.has('preview')) {
    html.dataset.theme = query.get('theme') === 'dark' ? 'dark' : 'light';
    render(
      <App api={createPreviewApi(DEFAULT_BASE || location.origin, location.hash.slice(1))} days={30} />,
      root,
    );
    return;
  }
  const read = readSettings(location.search);
  html.dataset.theme = read.ok ? read.settings.theme : read.theme;
  if (!read.ok) {
    render(<BadSettings problems={read.problems} />, root);
    return;
  }
  const { settings } = read;
  // Outside a frame the page has this deployment's origin, so only this deployment's API is allowed.
  const given = framed ? settings.apiBase : null;
  if (settings.accent !== null) {
    const { fill, onFill, text } = accentColors(settings.accent, settings.theme);
    html.style.setProperty('--accent', fill);
    html.style.setProperty('--on-accent', onFill);
    html.style.setProperty('--accent-text', text);
  }
  const api = createReferralsApi(given ?? (DEFAULT_BASE || location.origin), settings, ancestors());
  render(<App api={api} days={settings.days} />, root);
}

if (framed) {
  html.dataset.framed = '';
  reportHeight();
}
// The page for a site that may not frame the dashboard has no root element.
const root = document.getElementById('root');
if (root) {
  const { lang: language } = html;
  const messages = JSON.parse(document.getElementById('words')?.textContent ?? '{}');
  speak({ language, messages, locale: localeOf(language, navigator.languages) });
  start(root);
}
