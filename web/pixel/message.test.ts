import { expect, test } from 'vitest';
import { messageOf } from './message.ts';

const VID = '5b104370-c9bd-8db2-8a30-83f8041ed7fd';
const order = { order_id: 'o1', amount: 19.99, currency: 'usd', email: 'ann@example.com' };

test('an identify and an order contain key, type and visitor', () => {
  const identify = messageOf(
    ['identify', { email: 'ann@example.com', external_user_id: 'u1' }],
    'pk_1',
    VID,
    false,
  );
  expect(JSON.parse(identify ?? '')).toEqual({
    key: 'pk_1',
    type: 'identify',
    visitor_id: VID,
    email: 'ann@example.com',
    external_user_id: 'u1',
  });
  expect(JSON.parse(messageOf(['order', order], 'pk_1', null, false) ?? '')).toEqual({
    key: 'pk_1',
    type: 'order',
    visitor_id: null,
    ...order,
  });
});

test('a page cannot override key, type or visitor', () => {
  const fields = { ...order, key: 'lk_1', type: 'identify', visitor_id: 'x' };
  const message = JSON.parse(messageOf(['order', fields], 'pk_1', VID, false) ?? '');
  expect([message.key, message.type, message.visitor_id]).toEqual(['pk_1', 'order', VID]);
});

test('with Global Privacy Control sends no identify, and an order without visitor or email', () => {
  expect(messageOf(['identify', { email: 'ann@example.com' }], 'pk_1', VID, true)).toBeNull();
  expect(JSON.parse(messageOf(['order', order], 'pk_1', VID, true) ?? '')).toEqual({
    key: 'pk_1',
    type: 'order',
    visitor_id: null,
    order_id: 'o1',
    amount: 19.99,
    currency: 'usd',
  });
});
