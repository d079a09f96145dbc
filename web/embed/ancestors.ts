/**
 * Returns the origins of the pages that frame this one, from the parent up. Browsers without `ancestorOrigins` say the
 * parent's only, and nothing where the host's page asks for no referrer; `frame-ancestors` holds there too.
 */
export function ancestors(): string[] {
  // Older versions of Firefox have none.
  const { ancestorOrigins } = location as { ancestorOrigins?: DOMStringList };
  if (ancestorOrigins !== undefined) return [...ancestorOrigins];
  return document.referrer === '' ? [] : [new URL(document.referrer).origin];
}
