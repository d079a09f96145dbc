import type { Html } from './html.ts';

/** A page of the site. */
export type Page = {
  /** Address, from the root on, without an extension. */
  path: string;
  title: string;
  /** One sentence, without markup. */
  description: string;
  /** Pages above it, outermost first. */
  above: { title: string; path: string }[];
  /** Shown below the title, before the rest of the page. */
  lead?: Html;
  body: Html;
  /** Shown beside the body on wide screens: samples and examples. */
  aside?: Html;
  /** Headings that the page's own table of contents has. */
  contents?: { id: string; text: string }[];
  /** The page as Markdown. Links in it are absolute paths. */
  markdown: string;
  found: SearchEntry[];
};

/** An entry of the search index. */
export type SearchEntry = {
  /** Address, with an anchor if it is a section. */
  url: string;
  title: string;
  kind: 'API' | 'Guide' | 'Error' | 'Webhook';
  /** Its place in the site: the tag, or the guide of a section. */
  place: string;
  /** Exact names: operation id, path, code. */
  names: string;
  /** Names of the fields. */
  fields: string;
  text: string;
};
