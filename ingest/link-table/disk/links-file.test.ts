import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { uuidToBytes, uuidv7 } from '../../../core/ids.ts';
import { linkRow } from '../../../test/support/link-row.ts';
import { decodeRecord, encodeLink, encodeOther } from '../records.ts';
import {
  createLinksFile,
  finishLinksFile,
  isDamage,
  type LinksFile,
  openLinksFile,
  openLinksReader,
} from './links-file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hoplog-links-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
});

const WORKSPACE = uuidv7();
const record = (slug: string, destination = 'https://example.com/', id = uuidv7()) =>
  encodeLink(linkRow(slug, { id, destination_url: destination }));
const program = (slug: string) =>
  encodeOther({
    id: uuidv7(),
    workspace_id: WORKSPACE,
    domainNumber: 0,
    slug,
    kind: 'program',
    page: null,
    target: null,
  });
const idOf = (bytes: Buffer) => bytes.subarray(1, 17);

/** An empty file, finished and open. */
async function emptyFile(): Promise<LinksFile> {
  await finishLinksFile(dir, createLinksFile(dir));
  const file = openLinksFile(dir);
  if (file === null) throw new Error('the file was not made');
  return file;
}
function reader() {
  const opened = openLinksReader(dir);
  if (opened === null) throw new Error('there is no file');
  onTestFinished(() => opened.close());
  return opened;
}
function endLoad(file: LinksFile): Buffer[] {
  return [...file.endLoad()].flat().map((id) => Buffer.from(id));
}

test('a file can’t be opened before it is finished, and an unfinished one is discarded', async () => {
  const first = createLinksFile(dir);
  first.put(record('lost'));
  first.commit({ cursor: '7', at: 1, server: 'primary' });
  first.close();
  expect([openLinksFile(dir), openLinksReader(dir)]).toEqual([null, null]);
  const second = createLinksFile(dir);
  second.put(record('Kept'));
  second.commit(null);
  await finishLinksFile(dir, second);
  const { find } = reader();
  expect(decodeRecord(find('kEPT') ?? Buffer.alloc(0)).name).toBe('Kept');
  expect(find('lost')).toBeNull();
});

test('another form of a record has another version of the file: a young file is not read from PostgreSQL again', () => {
  const id = '01900000-0000-7000-8000-000000000001';
  const link = linkRow('Kept', { id, workspace_id: id, targeting: { ios: 'https://example.com/ios' } });
  const page = { id, workspace_id: id, domainNumber: 7, slug: 'page', kind: 'program' as const };
  const records = [encodeLink(link), encodeOther({ ...page, page: null, target: null })];
  const form = createHash('sha256').update(Buffer.concat(records)).digest('hex').slice(0, 16);
  // Where this fails, raise VERSION of the file.
  expect({ version: 4, form }).toEqual({ version: 4, form: '0b34123335a23b12' });
});

test('a reader sees committed changes only', async () => {
  const file = await emptyFile();
  onTestFinished(() => file.close());
  const { find, others, keys } = reader();
  const [link, page] = [record('one'), program('two')];
  const key = { id: uuidv7(), lookup: 'a1b2c3d4', hash: randomBytes(32), workspaceId: WORKSPACE };
  expect(file.put(link)).toBe('new');
  file.put(page);
  file.putKey(key);
  expect(find('one')).toBeNull();
  file.commit(null);
  expect(find('one')?.equals(link)).toBe(true);
  expect([...others()].map((one) => decodeRecord(one).name)).toEqual(['two']);
  expect([...keys()]).toEqual([key]);
  file.remove(idOf(link));
  file.removeKey(key.id);
  file.commit(null);
  expect([find('one'), [...keys()]]).toEqual([null, []]);
});

test('the sync point is the one of the last commit', async () => {
  const file = await emptyFile();
  expect(file.syncPoint).toBeNull();
  file.commit({ cursor: '41', at: 1_795_000_000_000, server: 'primary' });
  file.put(record('x'));
  const last = { cursor: '18446744073709551615', at: 1_795_000_000_001, server: 'standby' };
  file.commit(last);
  file.close();
  const again = openLinksFile(dir);
  onTestFinished(() => again?.close());
  expect(again?.syncPoint).toEqual(last);
});

test('it behaves as a map for any sequence of changes', async () => {
  const file = await emptyFile();
  const { find } = reader();
  const ids = Array.from({ length: 8 }, () => uuidv7());
  const slugs = ['a', 'B', 'c-d', 'E_f', 'g7'];
  const change = fc.record({
    id: fc.constantFrom(...ids),
    slug: fc.constantFrom(...slugs),
    destination: fc.webUrl(),
    remove: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
      const model = new Map<string, { slug: string; bytes: Buffer }>();
      for (const { id, slug, destination, remove } of changes) {
        if (remove) {
          file.remove(uuidToBytes(id));
          model.delete(id);
          continue;
        }
        const bytes = record(slug, destination, id);
        const before = model.get(id);
        const effect = before === undefined ? 'new' : before.bytes.equals(bytes) ? 'same' : 'changed';
        for (const [other, held] of model) if (held.slug === slug) model.delete(other);
        model.set(id, { slug, bytes });
        expect(file.put(bytes)).toBe(effect);
      }
      file.commit(null);
      for (const slug of slugs) {
        const held = [...model.values()].find((one) => one.slug === slug);
        expect(find(slug)?.toString('hex')).toBe(held?.bytes.toString('hex'));
      }
      for (const id of ids) file.remove(uuidToBytes(id));
      file.commit(null);
    }),
    { numRuns: 60 },
  );
  file.close();
});

test('a load removes what it did not put, and keeps what changes put meanwhile', async () => {
  const file = await emptyFile();
  const [kept, changed, gone] = [record('kept'), record('changed'), record('gone')];
  const many = Array.from({ length: 25_000 }, (_, n) => record(`many-${n}`));
  for (const one of [kept, gone, changed, ...many]) file.put(one);
  file.commit(null);
  file.beginLoad();
  expect(endLoad(file)).toHaveLength(many.length + 3);
  for (const one of [kept, gone, changed, ...many]) file.put(one);
  file.beginLoad();
  for (const one of [kept, record('changed', 'https://example.com/2', uuidv7()), ...many]) file.put(one);
  const fresh = record('fresh');
  file.put(fresh);
  expect(endLoad(file)).toEqual([idOf(gone)]);
  file.beginLoad();
  for (const one of [kept, fresh, ...many.slice(0, -1)]) file.put(one);
  // Two rows far apart were not put.
  expect(endLoad(file)).toHaveLength(2);
  file.commit(null);
  expect(reader().find('gone')).toBeNull();
  file.close();
});

test('a removal during a load hides no record that the load did not put', async () => {
  const file = await emptyFile();
  const [a, b, c, gone] = [record('a'), record('b'), record('c'), record('gone')];
  for (const one of [a, b, c, gone]) file.put(one);
  file.beginLoad();
  for (const one of [a, b, c]) file.put(one);
  file.remove(idOf(a));
  file.put(record('b')); // another link takes the slug of a loaded one
  expect(endLoad(file)).toEqual([idOf(gone)]);
  file.close();
});

test.each([
  ['no database', (file: string) => writeFileSync(file, randomBytes(8_192))],
  ['empty', (file: string) => writeFileSync(file, '')],
])('a file that is %s is not opened', async (_, spoil) => {
  (await emptyFile()).close();
  for (const suffix of ['-wal', '-shm']) rmSync(join(dir, `links.sqlite${suffix}`), { force: true });
  spoil(join(dir, 'links.sqlite'));
  expect([openLinksFile(dir), openLinksReader(dir)]).toEqual([null, null]);
});

test('damage within a file differs from other failures', async () => {
  const file = await emptyFile();
  for (let n = 0; n < 2_000; n++) file.put(record(`s${n}`, `https://example.com/${n}`));
  file.commit(null);
  file.close();
  expect(existsSync(join(dir, 'links.sqlite-wal'))).toBe(false);
  const path = join(dir, 'links.sqlite');
  const { find } = reader();
  expect(find('s1')).not.toBeNull();
  const bytes = readFileSync(path);
  randomBytes(bytes.length - 8_192).copy(bytes, 8_192);
  writeFileSync(path, bytes);
  const failures: unknown[] = [];
  for (let n = 0; n < 2_000; n++) {
    try {
      find(`s${n}`);
    } catch (error) {
      failures.push(error);
    }
  }
  expect(failures.length).toBeGreaterThan(0);
  expect(failures.filter((error) => !isDamage(error))).toEqual([]);
  expect(isDamage(new Error('another'))).toBe(false);
});
