/**
 * Returns the origins of the pages that a call of this page speaks for: those that frame it, from the parent up, or the
 * one whose script opened it. Browsers without `ancestorOrigins` tell only the parent's. Neither that nor the opener's
 * is known if that page sends no referrer; `frame-ancestors` applies to frames there too.
 */
export function ancestors(): string[] {
  if (window.parent === window) return window.opener === null ? [] : referrer();
  // Older versions of Firefox have none.
  const { ancestorOrigins } = location as { ancestorOrigins?: DOMStringList };
  if (ancestorOrigins !== undefined) return [...ancestorOrigins];
  return referrer();
}

const referrer = () => (document.referrer === '' ? [] : [new URL(document.referrer).origin]);
