import { Hoplog, verifyWebhook } from '@hoplog/sdk';

/** Uses each part of the SDK, in any runtime: a create, a list, one polled click, a genuine delivery, and an old one. */
export async function play({ baseUrl, key, linkId, secret, delivery, old }) {
  const hoplog = new Hoplog({ key, baseUrl });
  const { links } = await hoplog.links.create({
    destination_url: 'https://shop.example/',
    name: 'Runtime',
    external: true,
    channel: 'newsletter',
  });
  let isListed = false;
  for await (const link of hoplog.links.list()) isListed ||= link.id === links[0].id;
  let polled = null;
  for await (const click of hoplog.clicks.poll({ linkIds: [linkId] })) {
    polled = click.link_id;
    break;
  }
  const event = await verifyWebhook(delivery.body, delivery.headers, secret);
  const refusal = await verifyWebhook(old.body, old.headers, secret).catch((error) => error.name);
  const missing = await hoplog.links
    .get('01a0b6a5-7a5e-7000-8000-000000000001')
    .catch((error) => [error.status, error.code]);
  return { isListed, polled, type: event.type, refusal, missing };
}
