import { Type } from 'typebox';
import { EVENT_TYPES } from '../../core/webhooks/event-types.ts';
import { Body, Instant, OneOf, Uuid } from '../schemas.ts';

export const ListenQuery = Type.Object({
  events: Type.Optional(
    Type.String({
      maxLength: 1_000,
      pattern: '[a-z]',
      description: 'Types of events, separated by commas. By default all.',
    }),
  ),
  after: Type.Optional(
    Type.String({
      maxLength: 80,
      pattern: '^[0-9a-f-]{36}\\.[0-9]{1,18}$',
      description: 'As `Last-Event-ID`: the last `id` of the stream before.',
    }),
  ),
});

const Data = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });

export const TriggerBody = Body(
  {
    type: OneOf(EVENT_TYPES),
    data: Type.Optional({ ...Data, description: 'Fields of `data`, in place of those of the example.' }),
  },
  { title: 'TriggerEvent' },
);

export const TriggeredEvent = Type.Object(
  { id: Uuid, type: OneOf(EVENT_TYPES), created_at: Instant, test: Type.Literal(true), data: Data },
  { title: 'TriggeredEvent' },
);
