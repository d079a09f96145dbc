import { useUrlParameters } from '../../parts/url-parameters.ts';
import { DELIVERY_TYPES } from './events.ts';
import { type DeliveryStatus, STATUSES } from './responses.ts';

/** State of the delivery log, in the URL. Invalid values are ignored. */
export type DeliveriesView = {
  status: DeliveryStatus | null;
  /** The event. */
  type: string | null;
  cursor: string | null;
  /** ID of the open delivery. */
  delivery: string | null;
  /** Sets filters and returns to the first rows; an empty text removes one. */
  filter: (name: 'status' | 'type', value: string | null) => void;
  open: (delivery: string | null) => void;
};

export function useDeliveriesView(): DeliveriesView {
  const [search, change] = useUrlParameters();
  const type = search.get('type');
  return {
    status: STATUSES.find((status) => status === search.get('status')) ?? null,
    type: DELIVERY_TYPES.find((known) => known === type) ?? null,
    cursor: search.get('cursor'),
    delivery: search.get('delivery'),
    filter: (name, value) => change({ [name]: value, cursor: null }),
    open: (delivery) => change({ delivery }),
  };
}
