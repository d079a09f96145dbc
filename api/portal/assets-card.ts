import { escapeHtml } from '../../core/text/html.ts';
import type { ListedAsset } from '../../sql/portal/assets.ts';
import { copyButton, copyRow, type Writing } from './html.ts';

/** What the program gives its affiliates, to download and copy; empty: nothing. */
export function assetsCard(assets: readonly ListedAsset[], code: string, writing: Writing): string {
  if (assets.length === 0) return '';
  const title = escapeHtml(writing.words('assets'));
  return `<section class="card" id="assets"><h2>${title}</h2>
<ul class="assets">${assets.map((asset) => `<li>${assetOf(asset, code, writing)}</li>`).join('')}</ul></section>`;
}

function assetOf({ id, name, picture, text, url }: ListedAsset, code: string, writing: Writing): string {
  const { words, number } = writing;
  const title = `<h3><bdi>${escapeHtml(name)}</bdi></h3>`;
  if (picture !== null) {
    const { width, height } = picture;
    const file = `/p/${escapeHtml(code)}/assets/${id}`;
    const download = words('download');
    return `${title}<img src="${file}" alt="" loading="lazy" width="${width}" height="${height}">
<p class="below"><a href="${file}" download aria-label="${escapeHtml(`${download}: ${name}`)}">${escapeHtml(download)}</a>
<bdi class="dim" dir="ltr">${number(width)} × ${number(height)}</bdi></p>`;
  }
  if (text !== null) {
    // A textarea drops the first line break.
    return `${title}<div class="copy"><textarea readonly rows="4" dir="auto" aria-label="${escapeHtml(name)}">
${escapeHtml(text)}</textarea>${copyButton(text, writing)}</div>`;
  }
  const address = url ?? '';
  const open = words('open');
  return `${title}${copyRow(address, writing, name)}
<p class="below"><a href="${escapeHtml(address)}" target="_blank" rel="noopener noreferrer" aria-label="${escapeHtml(`${open}: ${name}`)}">${escapeHtml(open)}</a></p>`;
}
