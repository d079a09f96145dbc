const REFERENCE = 'client-reference-id';

/** Gives a visitor to checkouts of Stripe on the page, as their client reference, unless the page names one. */
export const referCheckouts = (visitor: string | null): void => {
  if (!visitor) return;
  // Where checkouts of Stripe begin: https://docs.stripe.com/payment-links, `/buy-button`, `/pricing-table`.
  for (const found of document.querySelectorAll<HTMLAnchorElement>(
    'stripe-pricing-table,stripe-buy-button,a[href^="https://buy.stripe.com/"]',
  )) {
    const { search } = found;
    if (search == null) {
      if (!found.hasAttribute(REFERENCE)) found.setAttribute(REFERENCE, visitor);
    } else if (!search.includes('client_reference_id=')) {
      found.search += `${search ? '&' : '?'}client_reference_id=${visitor}`;
    }
  }
};
