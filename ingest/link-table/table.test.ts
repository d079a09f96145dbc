import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { bytesToUuid, uuidToBytes, uuidv7 } from '../../core/ids.ts';
import { linkRow as row } from '../../test/support/link-row.ts';
import { createArena, LARGEST_RECORD } from './arena.ts';
import { decodeFrames, encodeFrame, OPERATIONS } from './frames.ts';
import { decodeRecord, encodeLink, encodeOther, hashOfId, hashOfName } from './records.ts';
import { createRefIndex } from './ref-index.ts';
import { createLinkTable } from './table.ts';

test('hashes are seeded at each start, so that no one can choose slugs that collide', async () => {
  const id = uuidToBytes(uuidv7());
  vi.resetModules();
  const restarted = await import('./records.ts');
  expect(restarted.hashOfName('go')).not.toBe(hashOfName('go'));
  expect(restarted.hashOfId(id)).not.toBe(hashOfId(id));
});

test('a record keeps every field', () => {
  const given = row('Abc-_9', {
    channel: null,
    utm_source: null,
    extra_query: 'ref=Abc-_9',
    targeting: { mobile: 'https://m.example.com/' },
    expires_at: 1_795_000_000_000,
    max_clicks: 5,
    expired_redirect_url: 'https://example.com/over',
    password_hash: 'scrypt$1$2$3$a$b',
    retargeting: { facebook: '12345' },
  });
  expect(decodeRecord(encodeLink(given))).toEqual({
    kind: 'link',
    id: Uint8Array.from(uuidToBytes(given.id)),
    workspaceId: Uint8Array.from(uuidToBytes(given.workspace_id)),
    name: 'Abc-_9',
    slug: 'Abc-_9',
    destination: given.destination_url,
    channel: null,
    utmSource: null,
    utmMedium: 'social',
    utmCampaign: 'Größe & mehr',
    extraQuery: 'ref=Abc-_9',
    settings: {
      targeting: { mobile: 'https://m.example.com/' },
      expiresAt: 1_795_000_000_000,
      maxClicks: 5,
      expiredRedirectUrl: 'https://example.com/over',
      passwordHash: 'scrypt$1$2$3$a$b',
      retargeting: { facebook: '12345' },
    },
  });
  const other = {
    id: uuidv7(),
    workspace_id: uuidv7(),
    domainNumber: 0,
    slug: 'mypage',
    kind: 'bio_page' as const,
    page: null,
    target: null,
  };
  expect(decodeRecord(encodeOther(other))).toMatchObject({ kind: 'bio_page', name: 'mypage' });
});

test('the table finds a slug in any case of letters, and notifies its listeners of changes', () => {
  const table = createLinkTable();
  const told: string[] = [];
  table.listen({ slugChanged: (slug) => told.push(slug) });
  const link = row('Abc');
  expect(table.put(encodeLink(link))).toBe(true);
  expect(table.put(encodeLink(link))).toBe(false);
  expect(table.find('aBC')?.name).toBe('Abc');
  expect(table.put(encodeLink({ ...link, slug: 'Other' }))).toBe(true);
  expect([table.find('Abc'), table.find('Other')?.name]).toEqual([null, 'Other']);
  expect(table.remove(uuidToBytes(link.id))).toBe(true);
  expect([table.find('Other'), table.size()]).toEqual([null, 0]);
  expect(told).toEqual(['Abc', 'Abc', 'Other', 'Other']);
});

test('a slug names its new owner in either order of the changes', () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const table = createLinkTable();
    const [a, b] = [row('taken'), row('free')];
    table.put(encodeLink(a));
    table.put(encodeLink(b));
    const changes = [
      { ...a, slug: 'renamed' },
      { ...b, slug: 'taken' },
    ].map(encodeLink);
    for (const index of order) table.put(changes[index] ?? Buffer.alloc(0));
    expect(Buffer.from(table.find('taken')?.id ?? [])).toEqual(uuidToBytes(b.id));
    expect(Buffer.from(table.find('renamed')?.id ?? [])).toEqual(uuidToBytes(a.id));
    expect(table.find('free')).toBeNull();
    expect(table.size()).toBe(2);
  }
});

test('a load removes what it did not put, and keeps what changes put meanwhile', () => {
  const table = createLinkTable();
  const [kept, gone, fresh] = [row('kept'), row('gone'), row('fresh')];
  table.put(encodeLink(kept));
  table.put(encodeLink(gone));
  table.beginLoad();
  table.put(encodeLink(kept));
  table.put(encodeLink(fresh));
  expect([...table.endLoad()]).toEqual([uuidToBytes(gone.id)]);
  expect([table.find('kept')?.name, table.find('gone'), table.find('fresh')?.name]).toEqual([
    'kept',
    null,
    'fresh',
  ]);
  table.beginLoad();
  expect([...table.endLoad()]).toHaveLength(2);
});

test('the table behaves as a map for any sequence of changes', () => {
  const ids = Array.from({ length: 12 }, () => uuidv7());
  const slugs = ['a', 'B', 'c-d', 'E_f', 'g7', 'hh', 'I1'];
  const change = fc.record({
    id: fc.constantFrom(...ids),
    slug: fc.constantFrom(...slugs),
    destination: fc.webUrl({ withQueryParameters: true }),
    remove: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 80 }), (changes) => {
      const table = createLinkTable();
      const model = new Map<string, { slug: string; destination: string }>();
      for (const { id, slug, destination, remove } of changes) {
        if (remove) {
          expect(table.remove(uuidToBytes(id))).toBe(model.delete(id));
          continue;
        }
        for (const [other, { slug: held }] of model) {
          if (held.toLowerCase() === slug.toLowerCase()) model.delete(other);
        }
        model.set(id, { slug, destination });
        table.put(encodeLink(row(slug, { id, destination_url: destination })));
      }
      expect(table.size()).toBe(model.size);
      expect([...table.records()]).toHaveLength(model.size);
      for (const { slug, destination } of model.values()) {
        expect(table.find(slug)).toMatchObject({ slug, destination });
      }
    }),
  );
});

test('links in use are evicted last, and pages never', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(29), { maxLength: 60 }), fc.nat(25), (visits, evictions) => {
      const table = createLinkTable();
      const ids = new Map<string, string>();
      const page = {
        id: uuidv7(),
        workspace_id: uuidv7(),
        domainNumber: 0,
        slug: 'page',
        kind: 'bio_page' as const,
        page: null,
        target: null,
      };
      table.put(encodeOther(page));
      for (let n = 0; n < 30; n++) {
        const link = row(`s${n}`);
        table.put(encodeLink(link));
        ids.set(bytesToUuid(uuidToBytes(link.id)), link.slug);
      }
      const wanted = new Set(visits.map((n) => `s${n}`));
      for (const slug of wanted) table.find(slug);
      const unwanted = 30 - wanted.size;
      for (let n = 0; n < evictions; n++) {
        const slug = ids.get(bytesToUuid(table.evict() ?? Buffer.alloc(16))) ?? '';
        // Once all unused links are evicted, the hand has passed every link.
        if (n < unwanted) expect(wanted).not.toContain(slug);
        expect(table.find(slug)).toBeNull();
      }
      expect([table.links(), table.size()]).toEqual([30 - evictions, 31 - evictions]);
    }),
  );
});

test('an eviction examines few links, although all are in use', () => {
  const table = createLinkTable();
  for (let n = 0; n < 10_000; n++) {
    table.put(encodeLink(row(`s${n}`)));
    table.find(`s${n}`);
  }
  let asked = 0;
  table.listen({
    slugChanged: () => {},
    usedSince: () => {
      asked++;
      return true;
    },
  });
  for (let n = 0; n < 1_000; n++) table.evict();
  expect(table.links()).toBe(9_000);
  expect(asked).toBeLessThan(1_000 * 32);
  for (let n = 0; n < 9_001; n++) table.evict();
  expect([table.links(), table.evict()]).toEqual([0, null]);
});

test('the arena reuses freed blocks and keeps records apart', () => {
  const arena = createArena();
  const live = new Map<number, Buffer>();
  for (let turn = 0; turn < 20_000; turn++) {
    if (live.size > 200) {
      const [ref = 0] = live.keys();
      expect(arena.read(ref).equals(live.get(ref) ?? Buffer.alloc(0))).toBe(true);
      arena.free(ref);
      live.delete(ref);
    }
    const record = randomBytes(1 + ((turn * 7_919) % 3_000));
    live.set(arena.put(record, 0), record);
  }
  for (const [ref, record] of live) expect(arena.read(ref).equals(record)).toBe(true);
  expect([...arena.refs()].sort()).toEqual([...live.keys()].sort());
  // 200 records of up to 3,000 bytes: without reuse 20,000 of them would have taken 30 MiB.
  expect(arena.bytes()).toBeLessThanOrEqual(4 * 2 ** 20);
  const largest = [1, 2].map((byte) => Buffer.alloc(LARGEST_RECORD, byte));
  const refs = largest.map((record) => arena.put(record, 0));
  expect(refs.map((ref, index) => arena.read(ref).equals(largest[index] ?? Buffer.alloc(0)))).toEqual([
    true,
    true,
  ]);
  expect([...arena.refs()]).toHaveLength(live.size + 2);
  expect(() => arena.put(Buffer.alloc(LARGEST_RECORD + 1), 0)).toThrow(RangeError);
});

test('frames carry the largest record, and a damaged or cut frame is an error', () => {
  const frame = encodeFrame(OPERATIONS.put, Buffer.alloc(LARGEST_RECORD, 7));
  const lengths: number[] = [];
  decodeFrames(Buffer.concat([frame, frame]), (_, payload) => lengths.push(payload.length));
  expect(lengths).toEqual([LARGEST_RECORD, LARGEST_RECORD]);
  expect(() => decodeFrames(frame.subarray(0, -1), () => {})).toThrow(RangeError);
  frame[100] = 8;
  expect(() => decodeFrames(frame, () => {})).toThrow(RangeError);
});

test('the index survives collisions, removals and growth', () => {
  const index = createRefIndex(16);
  const hashOf = (ref: number) => ref % 7;
  for (let ref = 1; ref <= 500; ref++) index.add(hashOf(ref), ref);
  for (let ref = 1; ref <= 500; ref += 2) index.remove(hashOf(ref), ref);
  expect(index.size()).toBe(250);
  for (let ref = 1; ref <= 500; ref++) {
    expect(index.find(hashOf(ref), (found) => found === ref)).toBe(ref % 2 === 0 ? ref : 0);
  }
});
