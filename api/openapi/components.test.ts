import { expect, test } from 'vitest';
import { createComponents } from './components.ts';

const NAMED = { title: 'Color', type: 'object', properties: { name: { type: 'string' } } };

test('a schema with a title is a named type, and null stands beside it', () => {
  const { form, schemas } = createComponents();
  expect(form({ type: 'array', items: NAMED })).toEqual({
    type: 'array',
    items: { $ref: '#/components/schemas/Color' },
  });
  expect(form({ ...NAMED, type: ['object', 'null'] })).toEqual({
    anyOf: [{ $ref: '#/components/schemas/Color' }, { type: 'null' }],
  });
  expect(schemas()).toEqual({ Color: { type: 'object', properties: { name: { type: 'string' } } } });
});

test('two different schemas of one name are refused', () => {
  const { form } = createComponents();
  form(NAMED);
  expect(() => form({ ...NAMED, properties: {} })).toThrow('two different schemas are named Color');
});

test('a description that differs stays where it is, one that is shared belongs to the type', () => {
  const { form, schemas } = createComponents();
  const [first, second] = [form({ ...NAMED, description: 'Of the page.' }), form(NAMED)];
  const tone = { title: 'Tone', type: 'string', enum: ['a'] };
  const [low, high] = [form({ ...tone, description: 'Low.' }), form({ ...tone, description: 'High.' })];
  expect(schemas()).toMatchObject({
    Color: { description: 'Of the page.' },
    Tone: { type: 'string', enum: ['a'] },
  });
  expect([first, second]).toEqual(Array(2).fill({ $ref: '#/components/schemas/Color' }));
  expect([low, high]).toEqual([
    { $ref: '#/components/schemas/Tone', description: 'Low.' },
    { $ref: '#/components/schemas/Tone', description: 'High.' },
  ]);
});

test('a property may be called title', () => {
  const { form } = createComponents();
  const page = { type: 'object', properties: { title: { type: 'string' } } };
  expect(form(page)).toEqual(page);
});

test('formats of our own become what any client knows', () => {
  const { form } = createComponents();
  expect(form({ type: 'string', format: 'instant-cursor' })).toEqual({ type: 'string' });
  expect(form({ type: ['string', 'null'], format: 'uuid-cursor' })).toEqual({ type: ['string', 'null'] });
  expect(form({ type: 'string', format: 'currency' })).toEqual({
    type: 'string',
    pattern: '^[A-Za-z]{3}$',
  });
});

test('what has a default may be left out, and objects of any keys are additionalProperties', () => {
  const { form } = createComponents();
  const tag = { type: 'string', default: '' };
  expect(
    form({
      type: 'object',
      required: ['tag', 'name'],
      properties: { tag, name: { type: 'string' } },
      additionalProperties: false,
    }),
  ).toEqual({ type: 'object', required: ['name'], properties: { tag, name: { type: 'string' } } });
  expect(form({ type: 'object', patternProperties: { '^.*$': { type: 'number' } } })).toEqual({
    type: 'object',
    additionalProperties: { type: 'number' },
  });
});

test('objects with a constant type are discriminated by it', () => {
  const { form } = createComponents();
  const of = (title: string, type: string) => ({
    title,
    type: 'object',
    properties: { type: { const: type } },
  });
  expect(form({ anyOf: [of('A', 'a'), of('B', 'b')] })).toEqual({
    oneOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }],
    discriminator: {
      propertyName: 'type',
      mapping: { a: '#/components/schemas/A', b: '#/components/schemas/B' },
    },
  });
});

test('what only the handler validates is shown as keywords of the schema', () => {
  const { form } = createComponents();
  expect(form({ type: 'string', shown: { pattern: '^a$' } })).toEqual({ type: 'string', pattern: '^a$' });
});
