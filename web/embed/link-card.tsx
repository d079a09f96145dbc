import type { ComponentChildren } from 'preact';
import { CopyField, Icon } from './copying.tsx';
import { shareLinks } from './share-links.ts';

/** The referral link, what it earns, and buttons to copy and share it. */
export function LinkCard({ link, terms }: { link: string; terms: ComponentChildren }) {
  return (
    <section class="card link-card" aria-labelledby="link-heading">
      <h2 id="link-heading">Your referral link</h2>
      {terms}
      <CopyField text={link} labelledBy="link-heading" name="Link" />
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

const ARROW_UP = 'M12 15V3m0 0L8 7m4-4l4 4M5 12v8h14v-8';
