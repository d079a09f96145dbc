/**
 * Returns the origins of the pages that frame this one, from the parent up. Browsers without `ancestorOrigins` tell
 * only the parent's, and none if the host's page sends no referrer; `frame-ancestors` applies there too.
 */
export function ancestors(): string[] {
  // Older versions of Firefox have none.
  const { ancestorOrigins } = location as { ancestorOrigins?: DOMStringList };
  if (ancestorOrigins !== undefined) return [...ancestorOrigins];
  return document.referrer === '' ? [] : [new URL(document.referrer).origin];
}
