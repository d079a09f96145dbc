import { expect, test } from 'vitest';
import { messageOf, type Order, type Sender } from './message.ts';

const VID = '5b104370-c9bd-8db2-8a30-83f8041ed7fd';
const OTHER = '6b104370-c9bd-8db2-8a30-83f8041ed7fd';
const order = { order_id: 'o1', amount: 19.99, currency: 'usd', email: 'ann@example.com' };
const sender: Sender = {
  key: 'pk_1',
  visitorIds: [VID],
  ages: { [VID]: 7 },
  privacyControl: false,
  test: null,
};

const sent = (...args: Parameters<typeof messageOf>) => JSON.parse(messageOf(...args) ?? '');

test('an identify and an order contain key, type and visitor', () => {
  expect(sent(['identify', { email: 'ann@example.com', external_user_id: 'u1' }], sender)).toEqual({
    key: 'pk_1',
    type: 'identify',
    visitor_id: VID,
    landed: { [VID]: 7 },
    email: 'ann@example.com',
    external_user_id: 'u1',
  });
  expect(sent(['order', order], { ...sender, visitorIds: [] })).toEqual({
    key: 'pk_1',
    type: 'order',
    visitor_id: null,
    ...order,
  });
});

test('a browser with several ids sends all of them, newest first', () => {
  expect(sent(['order', order], { ...sender, visitorIds: [VID, OTHER] })).toMatchObject({
    visitor_id: VID,
    visitor_ids: [VID, OTHER],
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
  expect(sent(['order', fields as Order], sender)).toEqual({
    key: 'pk_1',
    type: 'order',
    visitor_id: VID,
    landed: { [VID]: 7 },
    ...order,
  });
});

test('a bigint is sent as text, and what is no object sends no field', () => {
  const given = { order_id: 1n, amount: 10n } as unknown as Order;
  expect(sent(['order', given], sender)).toMatchObject({ order_id: '1', amount: '10' });
  for (const nothing of [undefined, null, 5] as unknown as Order[])
    expect(sent(['order', nothing], sender)).toEqual({
      key: 'pk_1',
      type: 'order',
      visitor_id: VID,
      landed: { [VID]: 7 },
    });
});

test('with Global Privacy Control sends no identify, and an order without visitor or person', () => {
  const private_ = { ...sender, visitorIds: [VID, OTHER], privacyControl: true };
  expect(messageOf(['identify', { email: 'ann@example.com' }], private_)).toBeNull();
  expect(sent(['order', { ...order, external_user_id: 'u' }], private_)).toEqual({
    key: 'pk_1',
    type: 'order',
    visitor_id: null,
    order_id: 'o1',
    amount: 19.99,
    currency: 'usd',
  });
});
