import type { Json } from './components.ts';

/** Headers of responses, as `components.headers`. */
export const HEADERS = {
  RequestId: {
    description: 'Id of the request, also `request_id` of an error. Include it when you report a problem.',
    schema: { type: 'string', format: 'uuid' },
    example: '019aabf4-3c00-7000-8000-000000000001',
  },
  RetryAfter: {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  IdempotentReplayed: {
    description: '`true` if the response was stored by an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  IgnoredFields: {
    description: 'Body fields that the service does not know and ignored, separated by commas; at most 20.',
    schema: { type: 'string' },
    example: 'colour, links.0.tracked',
  },
  ExportId: {
    description: 'Id of the payout file, for `POST /payouts`.',
    schema: { type: 'string', format: 'uuid' },
    example: '019aabf4-3c00-7000-8000-000000000009',
  },
  LedgerHead: {
    description: "Hash of the last entry of the workspace's ledger when the file was created.",
    schema: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  },
  LeftOut: {
    description:
      'How many referrers have commissions that wait for an open file of the same format and program, by file. Absent: none.',
    schema: { type: 'string' },
    example: '1000;export_id="019aabf4-3c00-7000-8000-000000000009"',
  },
  HeldBack: {
    description: 'How many balances are held back, by the reason of `GET /payouts/eligible`. Absent: none.',
    schema: { type: 'string' },
    example: 'below_minimum=12, payout_name=3',
  },
  Rounded: {
    description:
      'Number of lines that are rounded down because the format takes no decimals in the currency. Absent: none.',
    schema: { type: 'integer', minimum: 1 },
    example: 2,
  },
  QuietZone: {
    description: 'Of a PNG: pixels between the code and each side of the image, at least.',
    schema: { type: 'integer', minimum: 0 },
    example: 48,
  },
} as const;

/** The header's name on the wire, by its name in `components.headers`. */
const WIRE: Record<keyof typeof HEADERS, string> = {
  RequestId: 'x-request-id',
  RetryAfter: 'Retry-After',
  IdempotentReplayed: 'Idempotent-Replayed',
  IgnoredFields: 'x-ignored-fields',
  ExportId: 'x-export-id',
  LedgerHead: 'x-ledger-head',
  LeftOut: 'x-left-out',
  HeldBack: 'x-held-back',
  Rounded: 'x-rounded',
  QuietZone: 'x-quiet-zone',
};

const WAIT = new Set(['429', '503']);

/**
 * Returns the headers of a response.
 *
 * @param status as text
 */
export function headersOf(
  status: string,
  route: { idempotent: boolean; hasBody: boolean; headers: readonly (keyof typeof HEADERS)[] },
): Json {
  const names: (keyof typeof HEADERS)[] = ['RequestId'];
  if (WAIT.has(status)) names.push('RetryAfter');
  if (status.startsWith('2')) {
    if (route.idempotent) names.push('IdempotentReplayed');
    if (route.hasBody) names.push('IgnoredFields');
    names.push(...route.headers);
  }
  return Object.fromEntries(names.map((name) => [WIRE[name], { $ref: `#/components/headers/${name}` }]));
}
