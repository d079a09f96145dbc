import { useEffect, useRef, useState } from 'preact/hooks';
import { useAnnounce } from './announcer.tsx';
import { shareLinks } from './share-links.ts';

/** How long "Copied" is shown. Milliseconds. */
const COPIED_FOR = 2_500;

/** The referral link, with buttons to copy and share it. */
export function LinkCard({ link }: { link: string }) {
  const field = useRef<HTMLInputElement>(null);
  const [copied, setCopied] = useState(false);
  const announce = useAnnounce();

  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_FOR);
    return () => clearTimeout(timer);
  }, [copied]);

  async function copy() {
    const done = field.current !== null && (await copyText(link, field.current));
    setCopied(done);
    announce(done ? 'Link copied.' : 'The link is selected: copy it with your keyboard.');
  }

  return (
    <section class="card link-card" aria-labelledby="link-heading">
      <h2 id="link-heading">Your referral link</h2>
      <div class="link-row">
        <input
          ref={field}
          class="field"
          type="text"
          readOnly
          value={link}
          aria-labelledby="link-heading"
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" class="button" onClick={() => void copy()}>
          <Icon path={copied ? CHECK : SHEETS} />
          {copied ? 'Copied' : 'Copy'}
        </button>
      </div>
      <ul class="share" aria-label="Share your link">
        {'share' in navigator && (
          <li>
            <button
              type="button"
              class="chip"
              // Closing the share sheet rejects the promise.
              onClick={() => void navigator.share({ url: link }).catch(() => {})}
            >
              <Icon path={ARROW_UP} />
              Share…
            </button>
          </li>
        )}
        {shareLinks(link).map(({ place, href }) => (
          <li key={place}>
            <a class="chip" href={href} target="_blank" rel="noopener noreferrer">
              <span class="unseen">Share by </span>
              {place}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Copies a text; falls back to the field's selection where an iframe has no clipboard access. */
async function copyText(text: string, field: HTMLInputElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const { activeElement } = document;
    field.select();
    const done = document.execCommand('copy');
    if (done && activeElement instanceof HTMLElement) activeElement.focus();
    return done;
  }
}

const SHEETS = 'M9 9h11v11H9zM5 15H4V4h11v1';
const CHECK = 'M5 13l4 4L19 7';
const ARROW_UP = 'M12 15V3m0 0L8 7m4-4l4 4M5 12v8h14v-8';

function Icon({ path }: { path: string }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
