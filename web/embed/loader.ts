/**
 * The loader of the referral dashboard: a script for the merchant's site.
 *
 *     <script async src="{app_url}/embed.js" data-key="pk_live_..." data-user-id="u1"></script>
 *
 * It inserts an iframe with the dashboard at the script's position, or into the element that `data-mount` selects, and
 * keeps the iframe as high as its content.
 */
import { pageUrl } from './attributes.ts';
import { heightIn } from './height-message.ts';

/** Initial height, about that of the skeleton, to keep layout shift small. */
const FIRST_HEIGHT = 640;
const MARK = 'data-hoplog-embed';
/** Applications render the element of `data-mount` after their data has come. */
const MOUNT_WAIT_MS = 10_000;

function start(script: HTMLScriptElement): void {
  const { origin } = new URL(script.src);
  const url = pageUrl(script.dataset, origin);
  const selector = script.dataset.mount?.trim();
  if (!selector) {
    insertFrame(url, (frame) => {
      // Elements in a document's head are not rendered.
      if (script.closest('head')) document.body.append(frame);
      else script.after(frame);
    });
    return;
  }
  whenThere(selector, (mount) => {
    // A script that runs again, as in a single-page application, replaces its dashboard.
    for (const earlier of mount.querySelectorAll(`iframe[${MARK}]`)) earlier.remove();
    insertFrame(url, (frame) => mount.append(frame));
  });
}

/**
 * Calls back with the first element that a selector matches, now or within ten seconds; otherwise logs that none did.
 */
function whenThere(selector: string, use: (element: Element) => void): void {
  let element: Element | null;
  try {
    element = document.querySelector(selector);
  } catch {
    console.error(`[hoplog] data-mount: ${JSON.stringify(selector)} is not a CSS selector`);
    return;
  }
  if (element !== null) {
    use(element);
    return;
  }
  const changes = new MutationObserver(() => {
    const late = document.querySelector(selector);
    if (late === null) return;
    changes.disconnect();
    clearTimeout(end);
    use(late);
  });
  changes.observe(document, { subtree: true, childList: true, attributes: true });
  const end = setTimeout(() => {
    changes.disconnect();
    console.error(`[hoplog] data-mount: nothing matched ${JSON.stringify(selector)} within 10 seconds`);
  }, MOUNT_WAIT_MS);
}

/** Removes another dashboard with the same address: of a restored page, or of an effect that ran twice. */
function removeTwins(frame: HTMLIFrameElement): void {
  for (const other of frame.parentElement?.children ?? []) {
    if (
      other !== frame &&
      other instanceof HTMLIFrameElement &&
      other.hasAttribute(MARK) &&
      other.src === frame.src
    )
      other.remove();
  }
}

/** Inserts the dashboard. Only messages of its own iframe resize it. */
function insertFrame(url: URL, insert: (frame: HTMLIFrameElement) => void): void {
  const frame = document.createElement('iframe');
  frame.setAttribute(MARK, '');
  frame.title = 'Referral dashboard';
  frame.setAttribute('scrolling', 'no');
  // The workspace shows the page only to allowed origins, so the page must receive this origin, but not the whole
  // address.
  frame.referrerPolicy = 'origin';
  // Browsers without Web Share log an error about the unknown permission.
  const features = 'share' in navigator ? ['clipboard-write', 'web-share'] : ['clipboard-write'];
  frame.allow = features.map((feature) => `${feature} ${url.origin}`).join('; ');
  Object.assign(frame.style, {
    display: 'block',
    width: '100%',
    minWidth: '0',
    height: `${FIRST_HEIGHT}px`,
    border: '0',
    overflow: 'hidden',
    colorScheme: 'normal',
  });
  window.addEventListener('message', (event) => {
    if (event.source !== frame.contentWindow || event.origin !== url.origin) return;
    const height = heightIn(event.data);
    if (height !== null) frame.style.height = `${height}px`;
  });
  frame.src = url.href;
  insert(frame);
  removeTwins(frame);
}

/** This script's tag. A module has no `currentScript`: take the last unused tag with this path. */
function ownTag(): HTMLScriptElement | null {
  const { currentScript } = document;
  if (currentScript instanceof HTMLScriptElement) return currentScript;
  return (
    [...document.querySelectorAll<HTMLScriptElement>('script[data-key][src*="/embed.js"]')].at(-1) ?? null
  );
}

const tag = ownTag();
if (tag === null) console.error('[hoplog] embed.js: load it with a script tag');
else if (document.readyState === 'loading' && (tag.dataset.mount || tag.closest('head'))) {
  // The mount element may come later in the document.
  document.addEventListener('DOMContentLoaded', () => start(tag), { once: true });
} else start(tag);
