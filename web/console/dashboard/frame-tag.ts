import { escapeHtml } from '../../../core/text/html.ts';
import { HEIGHT_MESSAGE } from '../../embed/height-message.ts';

/** How a shared dashboard looks in a frame. `background`: a CSS color, empty: the theme's. */
export type FrameLook = { theme: '' | 'light' | 'dark'; background: string };

/** The frame's height until the dashboard tells its own, and where the script may not run. CSS pixels. */
const FIRST_HEIGHT = 1_200;

/** The frame's color scheme. A page is transparent only in a frame of its own scheme. */
const SCHEMES = { '': 'light dark', light: 'light', dark: 'dark' } as const;

/** Returns the address of a shared dashboard in a frame. */
export function framedUrl(url: string, { theme, background }: FrameLook): string {
  const query = new URLSearchParams();
  if (theme) query.set('theme', theme);
  // Without the `#`, which a URL would escape.
  if (background.trim()) query.set('background', background.trim().replace(/^#/, ''));
  return query.size === 0 ? url : `${url}?${query}`;
}

/** Returns what a page has to hold to show a shared dashboard: its frame, as high as its content. */
export function frameTag({ name, url }: { name: string; url: string }, look: FrameLook): string {
  return `<iframe src="${attribute(framedUrl(url, look))}"
  title="${attribute(name)}" loading="lazy"
  style="width: 100%; height: ${FIRST_HEIGHT}px; border: 0; color-scheme: ${SCHEMES[look.theme]}"></iframe>
<script>
  addEventListener('message', ({ data, origin, source }) => {
    if (origin !== '${new URL(url).origin}' || data?.type !== '${HEIGHT_MESSAGE}') return;
    for (const frame of document.querySelectorAll('iframe'))
      if (frame.contentWindow === source) frame.style.height = \`\${Number(data.height)}px\`;
  });
</script>`;
}

/** Escapes text as people write it in tags. */
const attribute = (text: string) =>
  escapeHtml(text).replaceAll('&#38;', '&amp;').replaceAll('&#34;', '&quot;');
