import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { newSecret, printSecret, signatureHeaders } from '../../core/webhooks/signature.ts';
import { readDocument } from './markdown.ts';

/** The steps of the guide on n8n and Zapier, in what each tool gives its code. */

type Delivery = { body: string; headers: Record<string, string>; secret: string };
type Step = (delivery: Delivery) => Promise<unknown>;

// The code of a step is the body of a function that may await.
const AsyncFunction = (async () => {}).constructor as new (
  ...given: string[]
) => (...args: unknown[]) => Promise<unknown>;
const requireHere = createRequire(import.meta.url);

function codeOf(tool: string): string {
  const [, code] =
    new RegExp(`^\`\`\`js ${tool}\n(.*?)^\`\`\``, 'ms').exec(readDocument('docs/automation.md')) ?? [];
  if (code === undefined) throw new Error(`the guide has no code for ${tool}`);
  return code;
}

const STEPS: Record<string, Step> = {
  async n8n({ body, headers, secret }) {
    const step = new AsyncFunction('require', '$input', codeOf('n8n').replace('whsec_...', secret));
    const helpers = { getBinaryDataBuffer: async () => Buffer.from(body) };
    const items = await step.call({ helpers }, requireHere, { first: () => ({ json: { headers } }) });
    return (items as { json: unknown }[])[0]?.json;
  },
  zapier({ body, headers, secret }) {
    const step = new AsyncFunction('require', 'inputData', codeOf('zapier'));
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
    return step(requireHere, { secret, body, id, timestamp, signatures });
  },
};

test.each(Object.entries(STEPS))('the code for %s takes genuine events, and no others', async (_, step) => {
  const secrets = [newSecret(), newSecret()];
  const event = { id: 'e-1', type: 'sale.created', data: { city: 'Köln' } };
  const body = JSON.stringify(event);
  const headers = signatureHeaders(event.id, body, secrets, Date.now());
  for (const secret of secrets.map(printSecret)) {
    expect(await step({ body, headers, secret })).toEqual(event);
  }
  const secret = printSecret(newSecret());
  const old = signatureHeaders(event.id, body, secrets, Date.now() - 301_000);
  const wrong: Delivery[] = [
    { body, headers, secret },
    { body: `${body} `, headers, secret: printSecret(secrets[0] ?? newSecret()) },
    { body, headers: old, secret: printSecret(secrets[0] ?? newSecret()) },
    {
      body,
      headers: { ...headers, 'webhook-signature': 'v1,' },
      secret: printSecret(secrets[0] ?? newSecret()),
    },
    {
      body,
      headers: { ...headers, 'webhook-timestamp': 'x' },
      secret: printSecret(secrets[0] ?? newSecret()),
    },
  ];
  for (const one of wrong) await expect(step(one)).rejects.toThrow('not a webhook of Hoplog');
});
