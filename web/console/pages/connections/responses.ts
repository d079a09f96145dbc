import type { ResponseOf } from '../../api/responses.ts';

export type Connections = ResponseOf<'/connections'>;
export type Connection = ResponseOf<'/connections/{id}'>;
export type Events = ResponseOf<'/connections/{id}/events'>;
export type ConnectionEvent = Events['events'][number];
export type EventStatus = ConnectionEvent['status'];
