import { element, isWide } from './elements.ts';

type Kind = 'secret' | 'publishable';

/** Hours until a key of this page expires. */
const HOURS = 8;
const HOUR_MS = 3_600_000;
const STORED = 'hoplog-docs-key-';
const PREFIX: Readonly<Record<Kind, string>> = { secret: 'lk_live_', publishable: 'pk_live_' };

/** Returns the reader's key of this tab; null: none. */
export const readerKey = (kind: string): string | null => sessionStorage.getItem(STORED + kind);

/**
 * Offers a key for the samples. An owner who is signed in to the console creates one with one press; anyone can enter a
 * key. It is stored in this tab only.
 */
export function setUpReaderKey(): void {
  for (const details of document.querySelectorAll<HTMLDetailsElement>('[data-reader-key]')) {
    const section = details.querySelector('div');
    if (!section) continue;
    const kind: Kind = details.dataset.readerKey === 'publishable' ? 'publishable' : 'secret';
    details.hidden = false;
    details.open = isWide();
    show(section, kind);
  }
}

function show(section: HTMLElement, kind: Kind, problem: Node | string = ''): void {
  const key = readerKey(kind);
  fillSamples(kind, key);
  const status = element('p', { role: 'status' }, problem);
  if (key === null) section.replaceChildren(...offers(section, kind), status);
  else section.replaceChildren(...own(section, kind, key), status);
}

function fillSamples(kind: Kind, key: string | null): void {
  for (const place of document.querySelectorAll<HTMLElement>(`[data-key="${kind}"]`)) {
    place.dataset.word ??= place.textContent ?? '';
    place.textContent = key ?? place.dataset.word;
  }
}

function own(section: HTMLElement, kind: Kind, key: string): HTMLElement[] {
  const forget = element('button', { type: 'button' }, 'Forget it');
  forget.addEventListener('click', () => {
    sessionStorage.removeItem(STORED + kind);
    show(section, kind);
  });
  const words = element('p', {}, 'The samples have your key ', element('code', {}, `${key.slice(0, 16)}…`));
  return [words, element('p', { class: 'hint' }, 'It is kept in this tab only. '), element('p', {}, forget)];
}

function offers(section: HTMLElement, kind: Kind): HTMLElement[] {
  const right = element(
    'select',
    { 'aria-label': 'What the key may do' },
    element('option', { value: 'read' }, 'that reads'),
    element('option', { value: 'all' }, 'that reads and writes'),
  );
  const make = element('button', { type: 'button', class: 'primary' }, 'Make a key');
  make.addEventListener('click', async () => {
    make.disabled = true;
    const made = await makeKey(kind, right.value === 'read').catch(() => 'The API can’t be reached.');
    make.disabled = false;
    if (typeof made === 'string' || made instanceof Node) show(section, kind, made);
    else keep(section, kind, made.token);
  });
  const input = element('input', {
    'aria-label': `Your ${kind} key`,
    placeholder: `${PREFIX[kind]}…`,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const form = element('form', {}, input, element('button', { type: 'submit' }, 'Use it'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const token = input.value.trim();
    if (/^(lk|pk)_live_[0-9a-f]{8}_[0-9a-f]{48}$/.test(token) && token.startsWith(PREFIX[kind])) {
      keep(section, kind, token);
    } else show(section, kind, `A ${kind} key begins with ${PREFIX[kind]} and has 65 characters.`);
  });
  const line = element('p', { class: 'make' }, make, ...(kind === 'secret' ? [right] : []));
  const paste = element('details', {}, element('summary', {}, 'Use a key that you have'), form);
  return [line, paste];
}

function keep(section: HTMLElement, kind: Kind, token: string): void {
  sessionStorage.setItem(STORED + kind, token);
  show(section, kind);
}

/** Creates a key with the session of the console. Returns advice for the reader if that fails. */
async function makeKey(kind: Kind, isReader: boolean): Promise<{ token: string } | Node | string> {
  const session = await fetch('/api/v1/session', { headers: { accept: 'application/json' } });
  if (session.status === 401) return consoleLink('Sign in to the console', ', then press again.');
  const { csrf_token: csrf = '' } = (await session.json()) as { csrf_token?: string };
  const response = await fetch('/api/v1/keys', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-csrf-token': csrf,
      'idempotency-key': crypto.randomUUID(),
    },
    body: JSON.stringify({
      kind,
      label: 'API reference',
      ...(kind === 'secret' && { expires_at: new Date(Date.now() + HOURS * HOUR_MS).toISOString() }),
      ...(kind === 'secret' && isReader && { scopes: ['read'] }),
    }),
  });
  const body = (await response.json()) as {
    token?: string;
    error?: { message: string; details?: { code?: string }[] };
  };
  if (body.token !== undefined) return { token: body.token };
  if (body.error?.details?.some(({ code }) => code === 'confirmation_required')) {
    return consoleLink(
      'Confirm in the console that it is you',
      ' (open Developers and press “Create a key”), then press again.',
    );
  }
  return body.error?.message ?? `The API responded with ${response.status}.`;
}

function consoleLink(words: string, then: string): Node {
  return element(
    'span',
    {},
    element('a', { href: '/console/settings/developers', target: '_blank' }, words),
    then,
  );
}
