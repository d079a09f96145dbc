import { element, isWide } from './elements.ts';
import { readerKey } from './reader-key.ts';

/** Maximum characters of a response that are shown. */
const SHOWN = 100_000;

/** Lets the forms of GET operations call the API: with the key of this tab, else as the member who is signed in. */
export function setUpTryForms(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('[data-try]')) {
    const section = form.closest('details');
    if (!section) continue;
    section.hidden = false;
    section.open = isWide();
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void send(form, section);
    });
  }
}

async function send(form: HTMLFormElement, section: HTMLElement): Promise<void> {
  const status = form.querySelector('[role=status]');
  const place = section.querySelector('[data-response]');
  const stop = form.querySelector<HTMLButtonElement>('[data-stop]');
  const submit = form.querySelector<HTMLButtonElement>('[type=submit]');
  if (!status || !place || !stop || !submit) return;
  const abort = new AbortController();
  stop.onclick = () => abort.abort();
  stop.hidden = false;
  submit.disabled = true;
  status.textContent = 'Waiting for the response …';
  place.replaceChildren();
  const began = performance.now();
  try {
    const key = readerKey('secret');
    const response = await fetch(addressOf(form), {
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
      signal: abort.signal,
    });
    const took = Math.round(performance.now() - began);
    const words = `${response.status} ${response.statusText}`.trim();
    status.textContent = `${words}, ${took} ms, ${key === null ? 'as the member who is signed in' : 'with your key'}`;
    await showBody(response, place);
  } catch (error) {
    if (!abort.signal.aborted) status.textContent = `The request failed: ${String(error)}`;
  } finally {
    stop.hidden = true;
    submit.disabled = false;
  }
}

/** Returns the request's address: path and query filled from the form. Empty fields are left out. */
function addressOf(form: HTMLFormElement): string {
  let path = form.dataset.try ?? '';
  const query = new URLSearchParams();
  for (const [field, given] of new FormData(form)) {
    const [place, name = ''] = field.split(/:(.*)/s);
    const value = String(given);
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== '') query.append(name, value);
  }
  const search = query.toString();
  return search === '' ? path : `${path}?${search}`;
}

async function showBody(response: Response, place: Element): Promise<void> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('image/')) {
    const image = element('img', { src: URL.createObjectURL(await response.blob()), alt: 'The response' });
    place.replaceChildren(image);
    return;
  }
  const pre = element('pre', { tabindex: '0', 'aria-label': 'Response' });
  place.replaceChildren(pre);
  if (type.startsWith('application/json')) {
    const body: unknown = await response.json();
    pre.textContent = shortened(JSON.stringify(body, null, 2));
    const page = helpOf(body);
    if (page !== null)
      place.prepend(element('p', {}, element('a', { href: page }, 'What to do about this error')));
    return;
  }
  if (!/^text\/|json|xml/.test(type)) {
    const { size } = await response.blob();
    pre.textContent = `${size.toLocaleString('en')} bytes of ${type}`;
    return;
  }
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    pre.append(part.value);
    if ((pre.textContent?.length ?? 0) > SHOWN) {
      pre.append('\n…');
      await reader?.cancel();
      return;
    }
  }
}

/** The page on an error that a response carries; null: it has none. */
function helpOf(body: unknown): string | null {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as {
    error?: { doc_url?: string };
  };
  return error?.doc_url === undefined ? null : new URL(error.doc_url).pathname;
}

const shortened = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}\n…` : text);
