import type { ComponentChildren } from 'preact';
import { CopyField, Icon } from './copying.tsx';
import { shareLinks } from './share-links.ts';
import { words } from './words.ts';

/** The referral link, what it earns, and buttons to copy and share it. */
export function LinkCard({ link, terms }: { link: string; terms: ComponentChildren }) {
  return (
    <section class="card link-card" aria-labelledby="link-heading">
      <h2 id="link-heading">{words('link_heading')}</h2>
      {terms}
      <CopyField text={link} labelledBy="link-heading" name={words('link')} />
      <ul class="share" aria-label={words('share_list')}>
        {'share' in navigator && (
          <li>
            <button
              type="button"
              class="chip"
              // Closing the share sheet rejects the promise.
              onClick={() => void navigator.share({ url: link }).catch(() => {})}
            >
              <Icon path={ARROW_UP} />
              {words('share')}
            </button>
          </li>
        )}
        {shareLinks(link).map(({ place, href }) => (
          <li key={place}>
            <a
              class="chip"
              href={href}
              target="_blank"
              rel="noopener noreferrer"
              aria-label={words('share_by', { place })}
            >
              {place}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

const ARROW_UP = 'M12 15V3m0 0L8 7m4-4l4 4M5 12v8h14v-8';
