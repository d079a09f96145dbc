import { type DefaultTreeAdapterTypes, parse } from 'parse5';

/** A page as a crawler parses it. */
export type CrawledPage = {
  title: string;
  /** The values of each `<meta>` in the head, by `property` or `name`. */
  tags: Map<string, string[]>;
  /** The addresses of each `<a>`, in order. */
  links: string[];
  /** Names of all elements. */
  elements: string[];
};

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** Parses a page by the HTML standard. */
export function crawledPage(html: string): CrawledPage {
  const all = elementsIn(parse(html));
  const head = all.find(({ tagName }) => tagName === 'head');
  const tags = new Map<string, string[]>();
  for (const meta of elementsIn(head).filter(({ tagName }) => tagName === 'meta')) {
    const name = attribute(meta, 'property') ?? attribute(meta, 'name');
    if (name !== undefined) tags.set(name, [...(tags.get(name) ?? []), attribute(meta, 'content') ?? '']);
  }
  const title = all.find(({ tagName }) => tagName === 'title');
  return {
    title: title?.childNodes.map((node) => ('value' in node ? node.value : '')).join('') ?? '',
    tags,
    links: all.filter(({ tagName }) => tagName === 'a').map((link) => attribute(link, 'href') ?? ''),
    elements: all.map(({ tagName }) => tagName),
  };
}

function elementsIn(node: Node | undefined): Element[] {
  if (node === undefined || !('childNodes' in node)) return [];
  return node.childNodes.flatMap((child) =>
    'tagName' in child ? [child, ...elementsIn(child)] : elementsIn(child),
  );
}

function attribute({ attrs }: Element, name: string): string | undefined {
  return attrs.find((one) => one.name === name)?.value;
}
