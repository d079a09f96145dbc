import { useEffect, useRef, useState } from 'preact/hooks';
import { useAnnounce } from './announcer.tsx';
import { words } from './words.ts';

/** How long "Copied" is shown. Milliseconds. */
const COPIED_FOR = 2_500;

/**
 * A read-only field with a button that copies it.
 *
 * @param labelledBy id of the element that names the field
 * @param name of the text, as a screen reader hears it: `Link`
 */
export function CopyField({ text, labelledBy, name }: { text: string; labelledBy: string; name: string }) {
  const field = useRef<HTMLInputElement>(null);
  const [copied, setCopied] = useState(false);
  const announce = useAnnounce();

  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_FOR);
    return () => clearTimeout(timer);
  }, [copied]);

  async function copy() {
    const done = field.current !== null && (await copyText(text, field.current));
    setCopied(done);
    announce(done ? words('copied_said', { name }) : words('selected_said'));
  }

  return (
    <div class="link-row">
      <input
        ref={field}
        class="field"
        type="text"
        dir="ltr"
        readOnly
        value={text}
        aria-labelledby={labelledBy}
        onFocus={(event) => event.currentTarget.select()}
      />
      <button type="button" class="button" onClick={() => void copy()}>
        <Icon path={copied ? CHECK : SHEETS} />
        {words(copied ? 'copied' : 'copy')}
      </button>
    </div>
  );
}

/** Copies a text. Selects the field's text in an iframe without clipboard access. */
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

export function Icon({ path }: { path: string }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
