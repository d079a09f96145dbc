import { Box, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { fetchFile } from '../../api/call.ts';
import { messageOf } from '../../api/failures.ts';
import { SmallNote } from '../../parts/note.tsx';
import { type Draft, previewBodyOf } from './draft.ts';
import { editInPreview } from './edit-in-preview.ts';

/** Pause in typing before the preview refreshes. Milliseconds. */
const PAUSE = 300;

type Props = {
  draft: Draft;
  slug: string;
  /** Changes the draft; null: its texts can't be edited here. */
  change: ((fields: Partial<Draft>) => void) | null;
};

/**
 * A phone-sized preview, rendered by the server like public pages. The sandbox blocks scripts, forms and new windows.
 * Its texts can be edited where they are: this page listens to what is typed into them.
 */
export function Preview({ draft, slug, change }: Props) {
  const [body] = useDebouncedValue(JSON.stringify(previewBodyOf(draft, slug)), PAUSE);
  const frame = useRef<HTMLIFrameElement>(null);
  const place = useRef(0);
  const latest = useRef({ draft, change });
  useEffect(() => {
    latest.current = { draft, change };
  });
  // The page that is being edited stays: a newer one would take the focus from the text.
  const [held, setHeld] = useState<string | null>(null);
  const page = useQuery({
    queryKey: ['preview of a bio page', body],
    queryFn: async ({ signal }) =>
      (await fetchFile('/bio-pages/preview', { method: 'POST', body: JSON.parse(body), signal })).text(),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
  const shown = held ?? page.data;
  return (
    <Box pos="sticky" top={72}>
      <div className="phone" aria-busy={page.isFetching}>
        <iframe
          ref={frame}
          title="Preview of the page"
          sandbox="allow-same-origin"
          srcDoc={shown === undefined ? '' : framed(shown)}
          onLoad={() => {
            const inside = frame.current?.contentWindow;
            inside?.scrollTo(0, place.current);
            inside?.addEventListener('scroll', () => {
              place.current = inside.scrollY;
            });
            if (!inside || shown === undefined || change === null) return;
            editInPreview(inside.document, {
              draft: () => latest.current.draft,
              change: (fields) => {
                latest.current.draft = { ...latest.current.draft, ...fields };
                latest.current.change?.(fields);
              },
              setActive: (isActive) => setHeld(isActive ? shown : null),
            });
          }}
        />
      </div>
      {page.isError && (
        <Text size="sm" c="dimmed" role="status" mt="xs" ta="center">
          The preview waits: {messageOf(page.error)}
        </Text>
      )}
      <SmallNote mt="xs" ta="center">
        {change && 'Press a text to edit it here. '}Buttons lead nowhere in the preview.
      </SmallNote>
    </Box>
  );
}

/**
 * The page's HTML for a frame that inherits this page's CSP: its style element gets our nonce. `target="_blank"` keeps
 * links from loading into the frame; the sandbox blocks the new window.
 */
function framed(html: string): string {
  const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';
  return html.replace('<style>', `<base target="_blank"><style nonce="${nonce}">${EDITABLE}`);
}

/** Texts that can be edited. An empty one needs a width to be pressed. */
const EDITABLE =
  '[contenteditable]{min-width:1em;cursor:text;border-radius:4px;outline-offset:3px}' +
  '[contenteditable]:hover{outline:1px dashed currentColor}' +
  '[contenteditable]:focus{outline:2px solid currentColor}';
