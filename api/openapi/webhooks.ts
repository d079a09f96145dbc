import type { EventSchema } from '../webhooks/event-schemas.ts';
import type { Components, Json } from './components.ts';
import { exampleOf } from './examples.ts';

const SIGNATURE_HEADERS = [
  {
    name: 'webhook-id',
    description: 'Id of the event, the same for every attempt and webhook. Drop an id that you have seen.',
    schema: { type: 'string', format: 'uuid' },
    example: '019aabf4-3c00-7000-8000-000000000001',
  },
  {
    name: 'webhook-timestamp',
    description: 'Time of the attempt, in seconds since the Unix epoch.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '1763632800',
  },
  {
    name: 'webhook-signature',
    description: 'Signatures as the Standard Webhooks specification defines them, separated by spaces.',
    schema: { type: 'string' },
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
];

/**
 * Registers the payloads of the events as named types.
 *
 * @returns the section `webhooks`, given `components.schemas`
 */
export function webhooksOf(
  events: readonly EventSchema[],
  { form }: Components,
): (schemas: Record<string, Json>) => Json {
  const payloads = events.map((event) => ({
    ...event,
    schema: form({
      title: titleOf(event.type),
      type: 'object',
      required: ['id', 'type', 'created_at', 'data'],
      properties: {
        id: { type: 'string', format: 'uuid', description: 'Also the `webhook-id` header.' },
        type: { type: 'string', const: event.type },
        created_at: { type: 'string', format: 'date-time' },
        test: {
          type: 'boolean',
          const: true,
          description: 'An example that `POST /webhooks/trigger` sent. Other events lack it.',
        },
        data: event.data,
      },
    }),
  }));
  return (schemas) =>
    Object.fromEntries(
      payloads.map(({ type, when, more, schema }) => [
        type,
        {
          post: {
            tags: ['Webhooks'],
            operationId: `events.${camelCase(type)}`,
            summary: when,
            ...(more !== undefined && { description: more }),
            security: [],
            parameters: SIGNATURE_HEADERS.map((header) => ({ in: 'header', required: true, ...header })),
            requestBody: {
              required: true,
              content: { 'application/json': { schema, example: exampleOf(schema, schemas) } },
            },
            responses: {
              '2XX': { description: 'Delivered. Respond within 20 seconds.' },
            },
          },
        },
      ]),
    );
}

const titleOf = (type: string): string =>
  `${`.${type}`.replace(/[._](\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

const camelCase = (type: string): string =>
  type.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());
