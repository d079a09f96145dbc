import { type Access, type ApiDocument, type Endpoint, errorsOf, type Operation } from './document.ts';

/** Returns the callers of an operation, its limits, and how to retry it. */
export function accessOf(document: ApiDocument, { operation, method }: Endpoint): [string, string][] {
  const access: Partial<Access> = operation['x-access'] ?? {};
  const isCreate = (operation.parameters ?? []).some(({ name }) => name === 'Idempotency-Key');
  const isLimited = errorsOf(document, operation).some(({ codes }) => codes.includes('too_many_requests'));
  const rows: [string, string][] = [['Key', keysOf(document, operation, access)]];
  if (access.plan !== undefined) rows.push(['Plan', PLANS[access.plan]]);
  const isSafe = method !== 'POST' || access.scopes?.includes('read');
  rows.push(['Retries', isCreate ? RETRIES.key : isSafe ? RETRIES.safe : RETRIES.other]);
  rows.push([
    'Rate limit',
    isLimited ? 'Limited: a 429 says in `Retry-After` when to repeat it.' : 'None of its own.',
  ]);
  return rows;
}

const PLANS = {
  any: 'Any.',
  paid: 'A [paid plan](/docs/plans).',
  depends: 'A [paid plan](/docs/plans), except as the description says.',
} as const;

const RETRIES = {
  key: 'Safe with an [`Idempotency-Key`](/docs/api#idempotency): a repeated call gets the first response.',
  safe: 'Safe to repeat.',
  other: 'As the description says; it takes no `Idempotency-Key`.',
} as const;

function keysOf(
  document: ApiDocument,
  { security = [] }: Operation,
  { scopes = [], manage }: Partial<Access>,
): string {
  const kinds = security.flatMap((scheme) => Object.keys(scheme));
  if (kinds.length === 0) return 'None.';
  const words = kinds.map((kind) => document.components.securitySchemes[kind]?.description ?? kind);
  if (manage === 'always') words.push('It needs `manage`.');
  if (manage === 'sometimes') words.push('It may need `manage`, as the description says.');
  if (manage !== 'always' && kinds.includes('secret')) {
    const named = scopes.map((scope) => `\`${scope}\``).join(' or ');
    words.push(
      named === ''
        ? 'A restricted key may not call it.'
        : `A [restricted key](/docs/api/keys.create) needs ${named}.`,
    );
  }
  return words.join(' ');
}
