/** Creates an element with attributes and content. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

/** Whether the page shows samples beside the text, not before it. */
export const isWide = (): boolean => matchMedia('(min-width: 1181px)').matches;
