import { useSearchParams } from 'wouter';
import { type DeliveryStatus, STATUSES } from './answers.ts';
import { EVENTS, TEST_EVENT } from './events.ts';

/** What the log of deliveries shows, in the page's URL. What can't be read is left out. */
export type DeliveriesView = {
  status: DeliveryStatus | null;
  /** The event. */
  type: string | null;
  cursor: string | null;
  /** Id of the delivery that lies open. */
  delivery: string | null;
  /** A filter begins the log anew; an empty text takes it away. */
  filter: (name: 'status' | 'type', value: string | null) => void;
  open: (delivery: string | null) => void;
};

export function useDeliveriesView(): DeliveriesView {
  const [search, setSearch] = useSearchParams();
  const set = (name: string, value: string | null, dropped?: string) =>
    setSearch((before) => {
      const next = new URLSearchParams(before);
      if (dropped) next.delete(dropped);
      if (value) next.set(name, value);
      else next.delete(name);
      return next;
    });
  const type = search.get('type');
  return {
    status: STATUSES.find((status) => status === search.get('status')) ?? null,
    type: type === TEST_EVENT || EVENTS.some((event) => event.type === type) ? type : null,
    cursor: search.get('cursor'),
    delivery: search.get('delivery'),
    filter: (name, value) => set(name, value, 'cursor'),
    open: (delivery) => set('delivery', delivery),
  };
}
