import { CREATABLE_CHANNELS } from '../../core/enrich/channels.ts';

/** A body that is expensive to process, or as large as allowed. */
export type HostileBody = {
  name: string;
  path: string;
  /** Default: `secret`. */
  key?: 'secret' | 'publishable';
  /** Default: `free`. */
  plan?: 'free' | 'unlimited';
  hasIdempotencyKey?: true;
  text(round: number): string;
};

const LARGE = 13_000_000;

/** Returns `"a0":1,"a1":1`, of about `bytes`. */
function fields(bytes: number): string {
  const all: string[] = [];
  for (let length = 0, n = 0; length < bytes; n++) {
    const field = `"a${n}":1`;
    all.push(field);
    length += field.length + 1;
  }
  return all.join(',');
}

const row = (more = '') =>
  `{"destination_url":"https://shop.example/a","name":"A campaign","channel":"reddit"${more}}`;
const rows = (count: number, one: (n: number) => string) =>
  `{"links":[${Array.from({ length: count }, (_, n) => one(n)).join(',')}]}`;
const csv = (count: number, more: string) =>
  `destination_url,name,channel,external_id\n${Array.from({ length: count }, (_, n) => `https://shop.example/${n},Campaign ${n}${more},reddit,e${n}`).join('\n')}`;

export const HOSTILE_BODIES: readonly HostileBody[] = [
  {
    name: 'unknown fields beside the rows',
    path: '/links/bulk',
    text: () => `{"links":[],${fields(LARGE)}}`,
  },
  {
    name: 'unknown fields in 1,000 rows',
    path: '/links/bulk',
    hasIdempotencyKey: true,
    text: () => rows(1_000, () => row(`,${fields(LARGE / 1_000)}`)),
  },
  {
    name: 'unknown fields in one row',
    path: '/links/bulk',
    text: () => rows(1, () => row(`,${fields(LARGE)}`)),
  },
  { name: 'millions of rows', path: '/links/bulk', text: () => `{"links":[${'1,'.repeat(LARGE / 2)}1]}` },
  {
    name: 'millions of empty lists in a row',
    path: '/links/bulk',
    text: () => rows(1, () => `[${'[],'.repeat(LARGE / 3)}1]`),
  },
  {
    name: 'one string of escaped quotes',
    path: '/links/bulk',
    text: () => `{"links":[],"a":"${'\\"'.repeat(LARGE / 2)}"}`,
  },
  {
    name: '1,000 rows of 13 KB of text',
    path: '/links/bulk',
    hasIdempotencyKey: true,
    text: () => rows(1_000, () => row(`,"a":"${'é'.repeat(6_500)}"`)),
  },
  {
    name: '1,000 valid rows',
    path: '/links/bulk',
    plan: 'unlimited',
    hasIdempotencyKey: true,
    text: () => rows(1_000, (n) => row(`,"metadata":{"n":${n},"text":"${'x'.repeat(3_000)}"}`)),
  },
  {
    name: '1,000 valid rows of all channels',
    path: '/links/bulk',
    plan: 'unlimited',
    hasIdempotencyKey: true,
    text: () =>
      rows(1_000, () =>
        row(`,"channel":null`).replace(
          ',"channel":"reddit","channel":null',
          `,"channels":${JSON.stringify(CREATABLE_CHANNELS)}`,
        ),
      ),
  },
  {
    name: 'unknown fields',
    path: '/referrals/enroll',
    plan: 'unlimited',
    key: 'publishable',
    text: () => `{"email":"a@mail.example",${fields(1_000_000)}}`,
  },
  {
    name: 'unknown fields, below the limit',
    path: '/referrals/enroll',
    plan: 'unlimited',
    key: 'publishable',
    text: () => `{"email":"a@mail.example",${fields(65_000)}}`,
  },
  {
    name: 'unknown fields',
    path: '/links',
    plan: 'unlimited',
    hasIdempotencyKey: true,
    text: () => row(`,${fields(1_000_000)}`),
  },
  {
    name: 'as many unknown fields as allowed',
    path: '/links',
    plan: 'unlimited',
    hasIdempotencyKey: true,
    text: () => row(`,${fields(48_000)}`),
  },
  {
    name: 'nested lists',
    path: '/links',
    plan: 'unlimited',
    text: () => row(`,"metadata":${'['.repeat(4_000)}${']'.repeat(4_000)}`),
  },
  {
    name: 'one long text',
    path: '/links',
    plan: 'unlimited',
    hasIdempotencyKey: true,
    text: () => row(`,"name":"${'\\n'.repeat(500_000)}"`),
  },
  {
    name: 'CSV of 1,000 rows',
    path: '/links/import',
    plan: 'unlimited',
    hasIdempotencyKey: true,
    text: () => JSON.stringify({ text: csv(1_000, ' '.repeat(3_900)) }),
  },
  {
    name: 'CSV of short rows',
    path: '/links/import',
    text: () => JSON.stringify({ text: `destination_url\n${'a\n'.repeat(1_300_000)}` }),
  },
  {
    name: 'JSON with a row of unknown fields',
    path: '/links/import',
    text: () => JSON.stringify({ text: `[{${fields(2_800_000)}}]` }),
  },
  {
    name: 'JSON of 30 rows of unknown fields',
    path: '/links/import',
    text: () =>
      JSON.stringify({
        text: `[${Array.from({ length: 30 }, () => row(`,${fields(90_000)}`)).join(',')}]`,
      }),
  },
  {
    name: 'newlines only',
    path: '/links/import',
    hasIdempotencyKey: true,
    text: () => JSON.stringify({ text: '\n'.repeat(2_000_000) }),
  },
];
