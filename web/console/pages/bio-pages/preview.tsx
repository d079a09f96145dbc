import { Box, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { fetchFile } from '../../api/call.ts';
import { messageOf } from '../../api/failures.ts';
import { SmallNote } from '../../parts/note.tsx';
import { type Draft, previewBodyOf } from './draft.ts';

/** Pause in typing before the preview refreshes. Milliseconds. */
const PAUSE = 300;

/**
 * A phone-sized preview, rendered by the server like public pages. The sandbox blocks scripts, forms and new windows.
 */
export function Preview({ draft, slug }: { draft: Draft; slug: string }) {
  const [body] = useDebouncedValue(JSON.stringify(previewBodyOf(draft, slug)), PAUSE);
  const frame = useRef<HTMLIFrameElement>(null);
  const place = useRef(0);
  const page = useQuery({
    queryKey: ['preview of a bio page', body],
    queryFn: async ({ signal }) =>
      (await fetchFile('/bio-pages/preview', { method: 'POST', body: JSON.parse(body), signal })).text(),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
  return (
    <Box pos="sticky" top={72}>
      <div className="phone" aria-busy={page.isFetching}>
        <iframe
          ref={frame}
          title="Preview of the page"
          sandbox="allow-same-origin"
          srcDoc={page.data === undefined ? '' : framed(page.data)}
          onLoad={() => {
            const inside = frame.current?.contentWindow;
            inside?.scrollTo(0, place.current);
            inside?.addEventListener('scroll', () => {
              place.current = inside.scrollY;
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
        Buttons are disabled in the preview.
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
  return html.replace('<style>', `<base target="_blank"><style nonce="${nonce}">`);
}
