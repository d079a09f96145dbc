/** An event type: API name, label, and when it happens. */
export type EventKind = { type: string; name: string; when: string };

export const EVENTS: EventKind[] = [
  { type: 'click.created', name: 'Clicks', when: 'Someone followed one of your links. Bots are excluded.' },
  { type: 'lead.created', name: 'Leads', when: 'A referred person signed up.' },
  { type: 'lead.blocked', name: 'Blocked leads', when: 'A referred signup was blocked and earns nothing.' },
  {
    type: 'sale.created',
    name: 'Sales',
    when: 'An order was reported for the first time, by your site or your server.',
  },
  {
    type: 'sale.updated',
    name: 'Sales corrected',
    when: "Your server's report of an order replaced your site's.",
  },
  { type: 'commission.created', name: 'Commissions', when: 'A referrer earned commission on a sale.' },
  { type: 'commission.updated', name: 'Commissions changed', when: 'The status of a commission changed.' },
  { type: 'credit.earned', name: 'Credits earned', when: 'A referrer or a new user earned credits.' },
  {
    type: 'credit.delivered',
    name: 'Credits delivered',
    when: 'Earned credits were marked as delivered.',
  },
  {
    type: 'credit.revoked',
    name: 'Credits revoked',
    when: 'Earned credits were taken back before delivery.',
  },
  {
    type: 'fulfilment.failed',
    name: 'Fulfilments failed',
    when: 'A credit could not be delivered: every attempt failed.',
  },
  { type: 'payout.created', name: 'Payout files', when: 'A payout file was created.' },
  { type: 'payout.paid', name: 'Payouts paid', when: 'Lines of a payout file were marked paid.' },
  { type: 'payout.failed', name: 'Payouts failed', when: 'A payment came back and is eligible again.' },
  { type: 'enrollment.created', name: 'Referrers', when: 'A user became a referrer.' },
  {
    type: 'domain.failing',
    name: 'Domains failing',
    when: 'The DNS record of a domain has been missing for three days.',
  },
  {
    type: 'webhook.disabled',
    name: 'Webhooks disabled',
    when: 'Another webhook was disabled, after failures or by a 410.',
  },
  {
    type: 'enrollment.payout_method_changed',
    name: 'Payout details changed',
    when: 'The payout address of a referrer changed.',
  },
];

/** Type of a test event; needs no subscription. */
export const TEST_EVENT = 'webhook.test';

/** Label of an event type; unknown types as they are. */
export const eventName = (type: string) =>
  type === TEST_EVENT ? 'Test' : (EVENTS.find((event) => event.type === type)?.name ?? type);

/** `Clicks, Sales`, in the form's order. */
export function eventNames(types: readonly string[]): string {
  const order = (type: string) => EVENTS.findIndex((event) => event.type === type);
  return types
    .toSorted((a, b) => order(a) - order(b))
    .map(eventName)
    .join(', ');
}
