/** The script of the portal's pages: it sends their forms, and copies. */
import { bodyOf } from './form-body.ts';
import './portal.css';
import { solve } from './work.ts';

/** Words of the page, in its language. */
const words = document.body.dataset;
/** Request timeout. Milliseconds. */
const LIMIT = 30_000;

type Failure = { status: number; paths: string[] };
type Outcome<T> = { ok: true; value: T } | ({ ok: false } & Failure);

async function call<T>(path: string, body: object): Promise<Outcome<T>> {
  try {
    const response = await fetch(`/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      credentials: 'same-origin',
      cache: 'no-store',
      signal: AbortSignal.timeout(LIMIT),
    });
    const answer: unknown = await response.json();
    if (response.ok) return { ok: true, value: answer as T };
    const { error } = answer as { error?: { details?: { path: string }[] } };
    return { ok: false, status: response.status, paths: (error?.details ?? []).map(({ path }) => path) };
  } catch {
    return { ok: false, status: 0, paths: [] };
  }
}

/** Returns what to say about a failure. */
function sentence({ status }: Failure): string {
  if (status === 429) return words.tooMany ?? '';
  if (status === 409) return words.termsChanged ?? '';
  return (status === 400 ? words.checkFields : words.failed) ?? '';
}

async function send(form: HTMLFormElement): Promise<Outcome<unknown>> {
  const body = bodyOf(new FormData(form));
  if (form.dataset.work === undefined) return call(form.dataset.call ?? '', body);
  const task = await call<{ challenge: string; bits: number }>('/portal/challenges', {});
  if (!task.ok) return task;
  const { challenge, bits } = task.value;
  return call(form.dataset.call ?? '', { ...body, challenge, nonce: await solve(challenge, bits) });
}

/** Shows the text that a call made, to copy it. */
function showMade(form: HTMLFormElement, shown: HTMLElement, outcome: unknown): boolean {
  const [input, button] = [shown.querySelector('input'), shown.querySelector('button')];
  if (!input || !button) return false;
  const { url } = outcome as { url: string };
  input.value = url;
  button.dataset.copy = url;
  shown.hidden = false;
  form.querySelector<HTMLInputElement>('[name=url]')?.focus();
  return true;
}

/** Shows an element in place of a form, for screen readers too. */
function showInstead(form: HTMLFormElement, id: string): boolean {
  const shown = document.getElementById(id);
  if (!shown) return false;
  form.hidden = true;
  shown.hidden = false;
  shown.focus();
  return true;
}

function tell(form: HTMLFormElement, failure: Failure): void {
  if (failure.status === 401 && showInstead(form, form.dataset.failed ?? '')) return;
  const problem = form.querySelector('[role=alert]');
  if (problem) problem.textContent = sentence(failure);
  const wrong = [...form.querySelectorAll('input, select')].filter(({ attributes }) =>
    failure.paths.includes(attributes.getNamedItem('name')?.value ?? ''),
  );
  for (const input of wrong) input.setAttribute('aria-invalid', 'true');
  const [first] = wrong;
  if (first instanceof HTMLElement) first.focus();
}

async function submit(form: HTMLFormElement): Promise<void> {
  const button = form.querySelector('button');
  if (!button || button.disabled) return;
  const label = button.textContent;
  for (const input of form.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid');
  const problem = form.querySelector('[role=alert]');
  if (problem) problem.textContent = '';
  const { then, done = '', shows = '' } = form.dataset;
  const made = document.getElementById(shows);
  if (made) made.hidden = true;
  button.disabled = true;
  button.textContent = words.oneMoment ?? label;
  const outcome = await send(form);
  button.disabled = false;
  button.textContent = label;
  if (!outcome.ok) return tell(form, outcome);
  if (made && showMade(form, made, outcome.value)) return;
  if (then === undefined) {
    showInstead(form, done);
    return;
  }
  const [path = ''] = then.split('#', 1);
  // The page itself is loaded again, also where only the part after # would change.
  if (path === location.pathname) location.reload();
  else location.replace(then);
}

async function copy(button: HTMLButtonElement): Promise<void> {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? '');
    button.textContent = words.copied ?? label;
  } catch {
    // Pages without https have no clipboard: the text is selected instead.
    button.parentElement?.querySelector<HTMLInputElement | HTMLTextAreaElement>('input, textarea')?.select();
    return;
  }
  setTimeout(() => {
    button.textContent = label;
  }, 2_000);
}

/** The token of a link is taken out of the address, and stays in the form alone. */
for (const input of document.querySelectorAll<HTMLInputElement>('input[data-fragment]')) {
  input.value = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
}
for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  button.addEventListener('click', () => void copy(button));
}
for (const button of document.querySelectorAll('[data-print]')) {
  button.addEventListener('click', () => print());
}
for (const form of document.querySelectorAll<HTMLFormElement>('form[data-call]')) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit(form);
  });
  if (form.dataset.byItself !== undefined) void submit(form);
}
