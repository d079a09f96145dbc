import type { EventType } from '../../core/webhooks/event-types.ts';
import { createComponents } from '../openapi/components.ts';
import { exampleOf } from '../openapi/examples.ts';
import { EVENT_SCHEMAS } from './event-schemas.ts';

let examples: ReadonlyMap<string, Record<string, unknown>> | null = null;

/** Returns the example of the data of an event, as the API reference shows it. */
export function exampleData(type: EventType): Record<string, unknown> {
  examples ??= makeExamples();
  return examples.get(type) ?? {};
}

function makeExamples(): ReadonlyMap<string, Record<string, unknown>> {
  const components = createComponents();
  const formed = EVENT_SCHEMAS.map(({ type, data }) => [type, components.form(data)] as const);
  const schemas = components.schemas();
  return new Map(
    formed.map(([type, schema]) => [type, exampleOf(schema, schemas, type) as Record<string, unknown>]),
  );
}
