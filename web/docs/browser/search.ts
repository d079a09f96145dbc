import type MiniSearch from 'minisearch';
import { type Hit, SEARCH_OPTIONS } from '../../../core/text/search-options.ts';
import { element } from './elements.ts';

/** Maximum number of shown results. */
const SHOWN = 12;

/** Sets up search over operations, fields, guides, events and errors. The index loads when the field gets the focus. */
export function setUpSearch(): void {
  const search = document.querySelector<HTMLElement>('.search');
  const input = search?.querySelector('input');
  const form = search?.querySelector('form');
  if (!search || !input || !form) return;
  const results = element('div', { class: 'results', hidden: '' });
  search.append(results);
  search.hidden = false;

  /** Whether Escape closed the results; the next letter opens them. */
  let isClosed = false;
  const show = async () => {
    const query = input.value.trim();
    if (query === '' || isClosed) {
      results.hidden = true;
      return;
    }
    const hits = await find(query).catch(() => null);
    // The input has changed meanwhile, and has results of its own.
    if (input.value.trim() !== query || isClosed) return;
    results.replaceChildren(...rows(query, hits));
    results.hidden = false;
  };
  input.addEventListener('focus', () => void loadIndex().catch(() => {}), { once: true });
  input.addEventListener('focus', () => void show());
  input.addEventListener('input', () => {
    isClosed = false;
    void show();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    results.querySelector('a')?.click();
  });
  search.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return move(event, input, results);
    isClosed = true;
    results.hidden = true;
    input.focus();
  });
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !search.contains(target)) results.hidden = true;
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, select, textarea');
    const isCalled =
      (event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey));
    if (!isCalled) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

let index: Promise<MiniSearch> | null = null;

function loadIndex(): Promise<MiniSearch> {
  const address = document.querySelector<HTMLElement>('script[data-index]')?.dataset.index ?? '';
  index ??= Promise.all([
    import('minisearch'),
    fetch(address).then((response) => {
      if (!response.ok) throw new Error(`the search index responded with ${response.status}`);
      return response.text();
    }),
  ]).then(([{ default: Index }, text]) => Index.loadJSONAsync(text, SEARCH_OPTIONS));
  // The next letter tries again.
  index.catch(() => {
    index = null;
  });
  return index;
}

async function find(query: string): Promise<Hit[]> {
  const found = (await loadIndex()).search(query);
  return found.slice(0, SHOWN).map(({ url, title, kind, place }) => ({ url, title, kind, place }) as Hit);
}

function rows(query: string, hits: Hit[] | null): HTMLElement[] {
  if (hits === null) return [element('p', { role: 'status' }, 'The search index could not be loaded.')];
  const words = hits.length === 0 ? `Nothing found for “${query}”.` : `${hits.length} results`;
  const status = element('p', { role: 'status', class: hits.length === 0 ? '' : 'hidden' }, words);
  const items = hits.map(({ url, title, kind, place }) =>
    element(
      'li',
      {},
      element(
        'a',
        { href: url },
        element('span', { class: 'hit-title' }, title),
        element('span', { class: 'hit-place' }, place === '' ? kind : `${kind} · ${place}`),
      ),
    ),
  );
  return [status, element('ul', {}, ...items)];
}

/** Moves the focus through the results. */
function move(event: KeyboardEvent, input: HTMLInputElement, results: HTMLElement): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || results.hidden) return;
  event.preventDefault();
  const stops: Element[] = [input, ...results.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement ?? input);
  const next = stops[Math.min(Math.max(at + step, 0), stops.length - 1)];
  if (next instanceof HTMLElement) next.focus();
}
