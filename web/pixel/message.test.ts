import { expect, test } from 'vitest';
import { callOf, messageOf } from './message.ts';

const VID = '5b104370-c9bd-8db2-8a30-83f8041ed7fd';
const OTHER = '6b104370-c9bd-8db2-8a30-83f8041ed7fd';
const order = { order_id: 'o1', amount: 19.99, currency: 'usd', email: 'ann@example.com' };

const sent = (
  type: string,
  fields: unknown,
  ages: Record<string, number> = { [VID]: 7 },
  isPrivate = false,
) => JSON.parse(messageOf(callOf(type, fields, isPrivate), 'pk_1', ages, undefined));

test('an identify and an order contain key, type and visitor', () => {
  expect(sent('identify', { email: 'ann@example.com', external_user_id: 'u1' })).toEqual({
    key: 'pk_1',
    type: 'identify',
    visitor_id: VID,
    landed: { [VID]: 7 },
    email: 'ann@example.com',
    external_user_id: 'u1',
  });
  expect(sent('order', order, {})).toEqual({ key: 'pk_1', type: 'order', visitor_id: null, ...order });
});

test('a browser with several ids sends all of them, newest first', () => {
  expect(sent('order', order, { [VID]: 7, [OTHER]: 9 })).toMatchObject({
    visitor_id: VID,
    visitor_ids: [VID, OTHER],
    landed: { [VID]: 7, [OTHER]: 9 },
  });
});

test('only the fields with a meaning are sent, and a page can’t override key, type or visitor', () => {
  const fields = {
    ...order,
    key: 'lk_1',
    type: 'identify',
    visitor_id: 'x',
    items: Array(300).fill({ a: 1 }),
  };
  const expected = { key: 'pk_1', type: 'order', visitor_id: VID, landed: { [VID]: 7 }, ...order };
  expect(sent('order', fields)).toEqual(expected);
  expect(Object.keys(callOf('identify', { ...order, external_user_id: 'u' }, false))).toEqual([
    'type',
    'email',
    'external_user_id',
  ]);
});

test('a call has its fields as they were, though the page changes its object', () => {
  const cart = { ...order };
  const call = callOf('order', cart, false);
  cart.amount = 0;
  expect(call.amount).toBe(19.99);
});

test('a field that can’t be read is left out, and the others are sent', () => {
  const fields = {
    ...order,
    get currency() {
      throw new Error('no');
    },
  };
  expect(Object.keys(callOf('order', fields, false))).toEqual([
    'type',
    'order_id',
    'amount',
    'email',
    'external_user_id',
  ]);
});

test('a bigint is sent as text, and what is no object sends no field', () => {
  expect(sent('order', { order_id: 1n, amount: 10n })).toMatchObject({ order_id: '1', amount: '10' });
  for (const nothing of [undefined, null, 5])
    expect(sent('order', nothing)).toEqual({
      key: 'pk_1',
      type: 'order',
      visitor_id: VID,
      landed: { [VID]: 7 },
    });
});

test('with Global Privacy Control an order names no person', () => {
  expect(sent('order', { ...order, external_user_id: 'u' }, {}, true)).toEqual({
    key: 'pk_1',
    type: 'order',
    visitor_id: null,
    order_id: 'o1',
    amount: 19.99,
    currency: 'usd',
  });
});
