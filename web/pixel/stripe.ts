/** Where checkouts of Stripe begin: https://docs.stripe.com/payment-links, `/buy-button`, `/pricing-table`. */
const CHECKOUTS = 'stripe-pricing-table,stripe-buy-button,a[href^="https://buy.stripe.com/"]';
const REFERENCE = 'client-reference-id';

/**
 * Gives the visitor to checkouts of Stripe on the page, as their client reference, unless the page names one: when the page
 * has loaded, and before each press, for those that came later.
 *
 * @param visitor returns the visitor's id; null while it must not be used
 * @returns does so now
 */
export function referCheckouts(visitor: () => string | null): () => void {
  const refer = () => {
    const id = visitor();
    if (!id) return;
    for (const found of [].slice.call(document.querySelectorAll(CHECKOUTS)) as HTMLAnchorElement[]) {
      const { search } = found;
      if (search === undefined) {
        if (!found.hasAttribute(REFERENCE)) found.setAttribute(REFERENCE, id);
      } else if (!/[?&]client_reference_id=/.test(search)) {
        found.search = `${search ? `${search}&` : '?'}client_reference_id=${id}`;
      }
    }
  };
  addEventListener('load', refer);
  for (const press of ['mousedown', 'click']) addEventListener(press, refer, true);
  return refer;
}
