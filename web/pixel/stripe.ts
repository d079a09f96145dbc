const REFERENCE = 'client-reference-id';

/** Sets the visitor as the client reference of the page's Stripe checkouts, unless the page sets one. */
export const referCheckouts = (visitor: string | null): void => {
  if (!visitor) return;
  // Elements that start checkouts of Stripe: https://docs.stripe.com/payment-links, `/buy-button`, `/pricing-table`.
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
