import { expect, test } from 'vitest';
import { open, pixelDesk, VID } from './pixel-desk.ts';

const desk = pixelDesk();

const PAGE = `
  <a id="plain" href="https://buy.stripe.com/test_1">Buy</a>
  <a id="more" href="https://buy.stripe.com/test_2?prefilled_email=a%40b.example#pay"><b>Buy</b></a>
  <a id="own" href="https://buy.stripe.com/test_3?client_reference_id=order_7">Buy</a>
  <a id="other" href="https://shop.example/buy.stripe.com/">Buy</a>
  <stripe-pricing-table id="table"></stripe-pricing-table>
  <stripe-buy-button id="button" client-reference-id="order_7"></stripe-buy-button>`;

/** Presses every link, and returns where each leads, and the references of Stripe's elements. */
const checkouts = () =>
  desk.page.evaluate<Record<string, string | null>>(`(() => {
    const found = {};
    for (const link of document.querySelectorAll('a')) {
      (link.firstElementChild || link).dispatchEvent(new MouseEvent('mousedown', { bubbles: true }));
      found[link.id] = link.href;
    }
    for (const id of ['table', 'button']) {
      found[id] = document.getElementById(id).getAttribute('client-reference-id');
    }
    return found;
  })()`);

const OWN = {
  own: 'https://buy.stripe.com/test_3?client_reference_id=order_7',
  other: 'https://shop.example/buy.stripe.com/',
  button: 'order_7',
};

test('checkouts of Stripe on the page get the visitor, unless the page names one', async () => {
  await open(desk, desk.tag + PAGE, {}, `?_vid=${VID(1)}`);
  await desk.page.waitForFunction("document.getElementById('table').hasAttribute('client-reference-id')");
  const marked = {
    ...OWN,
    plain: `https://buy.stripe.com/test_1?client_reference_id=${VID(1)}`,
    more: `https://buy.stripe.com/test_2?prefilled_email=a%40b.example&client_reference_id=${VID(1)}#pay`,
    table: VID(1),
  };
  expect(await checkouts()).toEqual(marked);
  expect(await checkouts()).toEqual(marked);
  expect(desk.messages).toEqual([]);
});

test('before consent, and without a visitor, they stay as they are', async () => {
  const waits = desk.tag.replace('<script ', '<script data-consent="wait" ');
  const bare = {
    ...OWN,
    plain: 'https://buy.stripe.com/test_1',
    more: 'https://buy.stripe.com/test_2?prefilled_email=a%40b.example#pay',
    table: null,
  };
  await open(desk, desk.tag + PAGE);
  await desk.page.waitForFunction("'consent' in (window.hoplog || {})");
  expect(await checkouts()).toEqual(bare);
  await open(desk, waits + PAGE, {}, `?_vid=${VID(1)}`);
  await desk.page.waitForFunction("'consent' in (window.hoplog || {})");
  expect(await checkouts()).toEqual(bare);
  await desk.page.evaluate('hoplog.consent(true)');
  await desk.page.waitForFunction("document.getElementById('table').hasAttribute('client-reference-id')");
  expect(await checkouts()).toMatchObject({
    plain: `https://buy.stripe.com/test_1?client_reference_id=${VID(1)}`,
    table: VID(1),
  });
});
