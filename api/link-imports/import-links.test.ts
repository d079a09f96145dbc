import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { updateWorkspace } from '../../sql/workspaces/workspaces.ts';
import {
  anotherTarget,
  csv,
  fixture,
  type ImportTarget,
  importTarget,
} from '../../test/support/link-imports.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';

let stores: TestStores;
let target: ImportTarget;

beforeAll(async () => {
  stores = await testStores();
});
beforeEach(async () => {
  target = await importTarget(stores);
});
afterAll(() => stores.close());

describe('our own CSV', () => {
  test('has the fields of a create as columns', async () => {
    const { created, errors } = await target.importRows(await fixture('hoplog.csv'));
    expect({ created, errors }).toEqual({ created: 6, errors: [] });
    const [summer, smart, video, plain, ...many] = await target.links();
    expect(summer).toMatchObject({
      destination_url: 'https://shop.example/summer',
      name: 'Summer sale',
      channel: 'facebook',
      slug: 'summer',
      external_id: 'post-1',
      metadata: { team: 'ads', cost: 12.5 },
      tags: ['sale', 'summer'],
      expires_at: '2031-01-01T00:00:00.000000Z',
      max_clicks: 500,
      utm_campaign: 'summer-2030',
      targeting: { mobile: 'https://m.shop.example/summer', desktop: 'https://shop.example/desktop' },
      expired_redirect_url: 'https://shop.example/over',
      retargeting: { facebook: '123456789012' },
      external: false,
    });
    expect(smart).toMatchObject({ name: 'Smart, two lines', channel: null });
    expect(video).toMatchObject({ channel: 'youtube', external: true });
    expect(video?.password_hash).toMatch(/^scrypt\$/);
    expect(plain).toMatchObject({ channel: 'other', external_id: expect.stringMatching(/^import-/) });
    expect(many.map((link) => [link.slug, link.channel])).toEqual([
      ['many-facebook', 'facebook'],
      ['many-twitter', 'twitter'],
    ]);
  });

  test('is validated as a create is, row by row, in terms of the columns of the file', async () => {
    const { created, errors } = await target.importRows(
      csv(
        'destination_url,name,slug,max_clicks,metadata,external,password,note',
        'https://shop.example/a,A,admin,,,,,',
        'https://shop.example/a,A,a b,,,,,',
        'https://shop.example/a,,a,,,,,',
        'ftp://shop.example/a,A,a,,,,,',
        'https://shop.example/a,A,a,many,,,,',
        'https://shop.example/a,A,a,,{broken,,pass word,',
        'https://else.example/a,A,a,,,false,,',
        'https://shop.example/a,A,a,,,perhaps,,',
        'https://shop.example/a,A,a,,,,,caf\uFFFD',
        'https://shop.example/a,A,fine,,,,,',
      ),
    );
    expect(created).toBe(1);
    expect(errors.map(({ line, field, message }) => `${line} ${field}: ${message}`)).toEqual([
      '2 slug: must not be "admin": this slug is reserved',
      '3 slug: must be 1 to 64 letters, digits, - and _, with at most 4 slashes between them, not "a b"',
      '4 name: is required without `destination_id`',
      '5 destination_url: must be a full URL that begins with https://, such as https://shop.example/tea',
      '6 max_clicks: must be an integer from 1 to 2147483647 or null',
      expect.stringMatching(/^7 metadata: must be JSON/),
      '8 destination_url: must be on shop.example; send external: true for a site that is not yours',
      '9 external: must be true or false',
      '10 note: holds characters that are not UTF-8: save the file as UTF-8',
    ]);
    expect(errors[5]?.row).toMatchObject({ metadata: '{broken', password: '***' });
  });

  test('shows no password of a refused row, in a cell of JSON either', async () => {
    const { errors } = await target.importRows(
      csv('destination_url,name,options', 'no,N,"{""password"":""open sesame"",""mood"":[1]}"'),
    );
    expect(errors[0]?.row).toEqual({
      destination_url: 'no',
      name: 'N',
      options: '{"password":"***","mood":[1]}',
    });
  });

  test('names every problem of a row at once, and counts the rows that it read', async () => {
    const result = await target.importRows(
      csv(
        'destination_url,name,slug,max_clicks,channel,tags,rules',
        'ftp://shop.example/a,,a b,many,fax,,',
        'https://shop.example/fine,Fine,fine,,FaceBook,,',
        'https://shop.example/b,B,b,,,,"[{""conditions"":[],""destination_url"":""https://shop.example/""}]"',
        'https://shop.example/c,"C',
      ),
    );
    expect(result).toMatchObject({ read: 4, created: 1, skipped: 0 });
    expect(result.errors.map(({ line, field }) => `${line} ${field}`).sort()).toEqual([
      '2 channel',
      '2 destination_url',
      '2 max_clicks',
      '2 name',
      '2 slug',
      '4 rules.0.conditions',
      '5 null',
    ]);
    expect(await target.links()).toMatchObject([{ slug: 'fine', channel: 'facebook' }]);
  });

  test('leaves a destination as it was, unless a row names UTM parameters or the import adds them', async () => {
    const rows = csv(
      'destination_url,name,slug,utm_campaign,append_utm',
      'http://shop.example/a,A,plain,,',
      'https://shop.example/b,B,named,spring,',
      'https://shop.example/c,C,wanted,,true',
    );
    await target.importRows(rows);
    const appended = async () =>
      (await target.links()).map(({ slug, destination_url, append_utm }) => [
        slug,
        destination_url,
        append_utm,
      ]);
    expect(await appended()).toEqual([
      ['plain', 'http://shop.example/a', false],
      ['named', 'https://shop.example/b', true],
      ['wanted', 'https://shop.example/c', true],
    ]);
    target = await importTarget(stores);
    await target.importRows(csv('destination_url,name,slug', 'https://shop.example/a,A,all'), {
      appendUtm: true,
    });
    expect(await appended()).toEqual([['all', 'https://shop.example/a', true]]);
  });

  test('rows of one campaign are added to it by destination_id', async () => {
    await target.importRows(csv('destination_url,name,channel', 'https://shop.example/a,A,facebook'));
    const id = (await target.links())[0]?.destination_id;
    const rows = () => csv('destination_id,channel,slug', `${id},youtube,tube`, `${id},facebook,second`);
    expect(await target.importRows(rows())).toMatchObject({ created: 1, errors: [{ line: 3 }] });
    expect(await target.importRows(rows())).toMatchObject({ created: 0, skipped: 1, errors: [{ line: 3 }] });
    expect((await target.links()).map((link) => link.destination_id)).toEqual([id, id]);
  });
});

describe('an import', () => {
  test('of every fixture, run twice, creates nothing twice', async () => {
    const names = [
      'hoplog.csv',
      'bitly.csv',
      'bitly.json',
      'dub.json',
      'kutt.json',
      'shlink.json',
      'yourls.csv',
    ];
    for (const name of names) {
      const first = await target.importRows(await fixture(name));
      const count = (await target.links()).length;
      const second = await target.importRows(await fixture(name));
      expect([name, second.created, second.errors]).toEqual([name, 0, first.errors]);
      expect(second.skipped).toBeGreaterThan(0);
      expect((await target.links()).length).toBe(count);
    }
  });

  test('skips a slug of the same link only: same spelling, same destination, same workspace', async () => {
    await target.importRows(csv('destination_url,name,slug', 'https://shop.example,A,Mine'));
    const result = await target.importRows(
      csv(
        'destination_url,name,slug',
        'https://shop.example/,A,Mine',
        'https://shop.example/,A,mine',
        'https://shop.example/other,A,Mine',
      ),
    );
    expect(result).toMatchObject({ created: 0, skipped: 1 });
    expect(result.errors.map(({ line, message }) => [line, message])).toEqual([
      [3, '"mine" is taken'],
      [4, '"Mine" is taken'],
    ]);
    target = await anotherTarget(stores);
    const elsewhere = await target.importRows(
      csv('destination_url,name,slug', 'https://shop.example/,A,Mine'),
    );
    expect(elsewhere).toMatchObject({ created: 0, skipped: 0, errors: [{ line: 2 }] });
  });

  test('imports a duplicate row once', async () => {
    const row = 'https://shop.example/twice,A,';
    const result = await target.importRows(
      csv('destination_url,name,slug', `${row}dup`, `${row}dup`, row, row),
    );
    expect(result).toMatchObject({ created: 2, skipped: 2, errors: [] });
  });

  test('never sets the domain: without one all destinations are external, with one those elsewhere', async () => {
    const rows = () =>
      csv('destination_url,name,slug', 'https://youtube.com/a,A,y', 'https://www.shop.example/b,B,s');
    await target.importRows(rows());
    expect((await target.links()).map((link) => link.external)).toEqual([true, false]);
    target = await importTarget(stores, null);
    await target.importRows(rows());
    expect((await target.links()).map((link) => link.external)).toEqual([true, true]);
    const { rows: stored } = await stores.pool.query('SELECT primary_domain FROM workspaces WHERE id = $1', [
      target.workspace.id,
    ]);
    expect(stored).toEqual([{ primary_domain: null }]);
  });

  test('gives rows without a channel the requested one, or makes them Smart Links', async () => {
    await target.importRows(csv('destination_url,name', 'https://shop.example/a,A'), {
      channel: 'newsletter',
    });
    await target.importRows(csv('destination_url,name', 'https://shop.example/b,B'), { channel: 'smart' });
    expect((await target.links()).map((link) => link.channel)).toEqual(['newsletter', null]);
  });

  test("keeps to the plan's cap of links, exactly", async () => {
    await updateWorkspace(stores.pool, target.workspace.id, { plan: 'free' });
    const rows = Array.from({ length: 130 }, (_, n) => `https://shop.example/${n},N,n${n}`);
    const result = await target.importRows(csv('destination_url,name,slug', ...rows));
    expect([result.created, result.errors.length]).toEqual([25, 105]);
    expect(result.errors[0]).toMatchObject({ line: 27, field: null, message: 'the plan allows 25 links' });
  });

  test('that is interrupted has done whole batches, and resumes when it is run again', async () => {
    const rows = Array.from({ length: 250 }, (_, n) => `https://shop.example/${n},N,n${n}`);
    const seen: number[] = [];
    const cutOff = target.importRows(csv('destination_url,name,slug', ...rows), {
      onProgress: ({ created }) => {
        seen.push(created);
        if (created === 200) throw new Error('pulled the plug');
      },
    });
    await expect(cutOff).rejects.toThrow('pulled the plug');
    expect(seen).toEqual([100, 200]);
    const again = await target.importRows(csv('destination_url,name,slug', ...rows));
    expect(again).toEqual({
      read: 250,
      created: 50,
      waiting: 0,
      skipped: 200,
      unknown_columns: [],
      errors: [],
      dry_run: false,
    });
  });

  test('of an unknown format is refused with the columns that it has', async () => {
    await expect(target.importRows(csv('from,to', 'a,b'))).rejects.toThrow(
      /no known export has these columns: from, to/,
    );
  });
});
