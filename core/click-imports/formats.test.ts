import { describe, expect, it } from 'vitest';
import { formOf } from '../link-imports/text-form.ts';
import { clickFileRows } from './click-file.ts';
import type { ClickRow } from './click-row.ts';
import type { ClickSource } from './click-sources.ts';
import { CLICK_FORMATS, isOfFormat } from './formats/known.ts';
import { FileColumns } from './import-row.ts';

/** Reads a file as an import does. */
async function read(source: ClickSource, text: string) {
  const format = CLICK_FORMATS[source];
  const columns = new FileColumns();
  async function* pieces() {
    for (let at = 0; at < text.length; at += 50) yield text.slice(at, at + 50);
  }
  const clicks: ClickRow[] = [];
  const problems: string[] = [];
  for await (const row of clickFileRows(pieces(), formOf(text), columns, (keys) =>
    isOfFormat(format, keys),
  )) {
    if ('problem' in row) problems.push(`${row.line} ${row.problem.message}`);
    else {
      try {
        clicks.push(...format.read(row));
      } catch (error) {
        problems.push(`${row.line} ${(error as Error).message}`);
      }
    }
  }
  return { clicks, problems, unread: columns.unread() };
}

const micros = (text: string) => Date.parse(text) * 1_000;

describe('a file of visits', () => {
  it('of Shlink is read from its API, page by page, and from its web client', async () => {
    const page = (...data: object[]) =>
      JSON.stringify(
        { visits: { data, pagination: { currentPage: 1, pagesCount: 2, totalItems: 2 } } },
        null,
        2,
      );
    const visit = {
      referer: 'https://t.co/abc',
      date: '2024-08-20T05:05:03+02:00',
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
      visitLocation: {
        cityName: 'Cupertino',
        countryCode: 'US',
        countryName: 'United States',
        latitude: 37.3042,
        longitude: -122.0946,
        regionName: 'California',
        timezone: 'America/Los_Angeles',
      },
      potentialBot: false,
      visitedUrl: 'https://s.example/abc123?x=1',
    };
    const bot = {
      ...visit,
      date: '2024-08-21T00:00:00Z',
      visitLocation: null,
      potentialBot: true,
      referer: '',
    };
    for (const text of [`${page(visit)}\n${page(bot)}`, `${JSON.stringify(visit)}\n${JSON.stringify(bot)}`]) {
      const { clicks, problems, unread } = await read('shlink', text);
      expect(problems).toEqual([]);
      expect(unread).toEqual([]);
      expect(clicks).toMatchObject([
        {
          ts: micros('2024-08-20T03:05:03Z'),
          link: { kind: 'name', host: 's.example', slug: 'abc123' },
          country: 'US',
          region: 'California',
          city: 'Cupertino',
          referer: 'https://t.co/abc',
          isBot: false,
          count: 1,
        },
        { ts: micros('2024-08-21T00:00:00Z'), country: '', isBot: true },
      ]);
    }
    const csv = await read(
      'shlink',
      'date,browser,os,referer,country,city,latitude,longitude,potentialBot\n' +
        '2024-08-20T05:05:03+02:00,Firefox,Linux,Direct,Spain,Zaragoza,41.6,-0.8,false\n',
    );
    expect(csv.clicks).toMatchObject([
      {
        link: null,
        country: 'ES',
        city: 'Zaragoza',
        browser: 'Firefox',
        os: 'Linux',
        referer: '',
        isBot: false,
      },
    ]);
    expect(csv.unread).toEqual(['latitude', 'longitude']);
  });

  it('says in any form of yes and no whether a click is a bot’s, and another word is an error', async () => {
    const forms = ['t', 'y', 'YES', 'on', '1', 'f', 'n', 'Off', '0', '', 'null'];
    const bots = [true, true, true, true, true, false, false, false, false, null, null];
    const ofShlink = forms.map((form) => `2024-08-20T05:05:03Z,Direct,${form}\n`).join('');
    const shlink = await read('shlink', `date,referer,potential_bot\n${ofShlink}`);
    expect(shlink.clicks.map(({ isBot }) => isBot)).toEqual(bots);
    const ofCsv = forms.map((form) => `2024-08-20T05:05:03Z,tea,${form}\n`).join('');
    const csv = await read('csv', `ts,slug,is_bot\n${ofCsv}2024-08-20T05:05:03Z,tea,maybe\n`);
    expect(csv.clicks.map(({ isBot }) => isBot)).toEqual(bots);
    expect(csv.problems).toEqual([expect.stringMatching(/must be true or false/)]);
  });

  it('with a column or key twice is an error that names it, where the values differ', async () => {
    const csv = await read(
      'csv',
      'ts,slug,Country,country\n2024-08-20,tea,DE,FR\n2024-08-20,tea,,FR\n2024-08-20,tea,FR,\n',
    );
    expect(csv.clicks.map(({ country }) => country)).toEqual(['FR', 'FR']);
    expect(csv.problems).toEqual([expect.stringMatching(/^2 .*several times/)]);
    const line = '{"ts":"2024-08-20","slug":"tea","country":"DE","country":"FR"}';
    const spelled = '{"ts":"2024-08-20","slug":"tea","Country":"DE","country":"FR"}';
    const once = '{"ts":"2024-08-20","slug":"tea","Country":null,"country":"FR"}';
    for (const text of [`${line}\n${spelled}\n${once}\n`, `[\n${line},\n${spelled},\n${once}]`]) {
      const json = await read('csv', text);
      expect(json.clicks.map(({ country }) => country)).toEqual(['FR']);
      expect(json.problems).toEqual([expect.stringMatching(/twice/), expect.stringMatching(/several times/)]);
    }
  });

  it('of YOURLS is its table yourls_log, and an address is only a part of the visitor', async () => {
    const { clicks, unread } = await read(
      'yourls',
      'click_id\tclick_time\tshorturl\treferrer\tuser_agent\tip_address\tcountry_code\n' +
        '1\t2019-05-06 07:08:09\tsale\tdirect\tcurl/8.0\t203.0.113.7\tFR\n' +
        '2\t2019-05-06 07:08:10\tsale\thttps://news.example/\tcurl/8.0\t203.0.113.7\t\n',
    );
    expect(unread).toEqual([]);
    expect(clicks).toMatchObject([
      {
        ts: micros('2019-05-06T07:08:09Z'),
        link: { host: null, slug: 'sale' },
        country: 'FR',
        referer: '',
        sourceId: '1',
      },
      { country: '', referer: 'https://news.example/', sourceId: '2' },
    ]);
    expect(clicks[0]?.visitor).toBe(clicks[1]?.visitor);
  });

  it('of Kutt is a count of an hour: one for each country, and of the browser where all have one', async () => {
    const header =
      'id,countries,created_at,link_id,referrers,total,br_chrome,br_edge,br_firefox,br_ie,br_opera,br_other,br_safari,os_android,os_ios,os_linux,os_macos,os_other,os_windows,updated_at,address,domain';
    const { clicks, unread } = await read(
      'kutt',
      `${header}\n` +
        `7,"{""us"": 3, ""de"": 2, ""unknown"": 1}",2022-03-04 05:00:00+00,12,"{""www[dot]example[dot]com"": 7}",7,7,0,0,0,0,0,0,1,6,0,0,0,0,2022-03-04 05:59:00+00,sale,go.example\n`,
    );
    expect(
      clicks.map(({ country, count, browser, os, referer, sourceId }) => ({
        country,
        count,
        browser,
        os,
        referer,
        sourceId,
      })),
    ).toEqual([
      { country: 'US', count: 3, browser: 'Chrome', os: '', referer: 'www.example.com', sourceId: '7/US' },
      { country: 'DE', count: 2, browser: 'Chrome', os: '', referer: 'www.example.com', sourceId: '7/DE' },
      { country: '', count: 2, browser: 'Chrome', os: '', referer: 'www.example.com', sourceId: '7/' },
    ]);
    expect(clicks[0]?.link).toEqual({ kind: 'name', host: 'go.example', slug: 'sale' });
    expect(unread).toEqual(['link_id', 'updated_at']);
  });

  it('of Plausible is a count of a day, by page or by clicks on outbound links', async () => {
    const pages = await read(
      'plausible',
      '"date","hostname","page","visits","visitors","pageviews"\n"2023-02-09","s.example","/abc",8,7,11\n',
    );
    expect(pages.clicks).toMatchObject([
      { ts: micros('2023-02-09T00:00:00Z'), link: { host: 's.example', slug: 'abc' }, count: 11 },
    ]);
    expect(pages.unread).toEqual(['visits', 'visitors']);
    const events = await read(
      'plausible',
      '"date","name","link_url","path","visitors","events"\n' +
        '"2023-02-09","Outbound Link: Click","https://s.example/abc","",2,3\n"2023-02-09","404","","/x",1,1\n',
    );
    expect(events.clicks).toMatchObject([{ link: { host: 's.example', slug: 'abc' }, count: 3 }]);
  });

  it('of Matomo has the page views and outlinks of each visit', async () => {
    const visit = {
      idSite: '1',
      idVisit: '42',
      visitorId: 'a1b2c3d4e5f60718',
      visitIp: '203.0.0.0',
      actionDetails: [
        { type: 'action', url: 'https://s.example/abc', pageTitle: 'x', timestamp: 1_650_000_000 },
        { type: 'event', url: 'https://s.example/abc', eventCategory: 'Video', timestamp: 1_650_000_001 },
        { type: 'outlink', url: 'https://s.example/def', timestamp: 1_650_000_005 },
      ],
      referrerUrl: 'https://news.example/a',
      countryCode: 'fr',
      regionCode: 'IDF',
      city: 'Paris',
      browserName: 'Firefox',
      operatingSystemName: 'GNU/Linux',
      deviceType: 'Smartphone',
      languageCode: 'fr-fr',
    };
    const { clicks } = await read('matomo', JSON.stringify([visit]));
    expect(clicks).toMatchObject([
      {
        ts: 1_650_000_000_000_000,
        link: { host: 's.example', slug: 'abc' },
        country: 'FR',
        region: 'FR-IDF',
        device: 'mobile',
        visitor: 'a1b2c3d4e5f60718',
        language: 'fr',
        referer: 'https://news.example/a',
        sourceId: '42/0',
      },
      { ts: 1_650_000_005_000_000, link: { slug: 'def' }, referer: '', sourceId: '42/2' },
    ]);
    const [view, event, outlink] = visit.actionDetails;
    const later = await read('matomo', JSON.stringify([{ ...visit, actionDetails: [event, view, outlink] }]));
    expect(later.clicks).toMatchObject([
      { referer: 'https://news.example/a', sourceId: '42/1' },
      { referer: '', sourceId: '42/2' },
    ]);
  });

  it('of our own columns takes the export of clicks too', async () => {
    const { clicks, problems } = await read(
      'csv',
      'sep=;\nts;link_id;visitor_id;city;referer;trigger;is_bot;count\n' +
        "2024-01-02T03:04:05.678901Z;0192f3c4-0000-7000-8000-00000000000A;0192f3c4-0000-7000-8000-00000000000b;'=Bonn;;qr;true;4\n" +
        'broken;row\n',
    );
    expect(clicks).toMatchObject([
      {
        ts: micros('2024-01-02T03:04:05.678Z') + 901,
        link: { kind: 'id', id: '0192f3c4-0000-7000-8000-00000000000a' },
        visitor: '0192f3c4-0000-7000-8000-00000000000b',
        city: '=Bonn',
        trigger: 'qr',
        isBot: true,
        count: 4,
      },
    ]);
    expect(problems).toEqual([expect.stringContaining('4 has 2 values for 8 columns')]);

    const counts = ['0x10', '1e3', '0b1', '-1', '1.5', '16', '16.0'].map(
      (count) => `2024-01-02,tea,${count}\n`,
    );
    const counted = await read('csv', `ts,slug,count\n${counts.join('')}`);
    expect(counted.clicks.map(({ count }) => count)).toEqual([16, 16]);
    expect(counted.problems).toEqual(Array(5).fill(expect.stringMatching(/must be a whole number/)));

    const led = await read(
      'csv',
      'ts,slug,rule_id,variant_id,asn,ad_network,ad_click_param,ad_click_id\n' +
        '2024-01-02,tea,r1,b,AS3320,google,gclid,Cj0KCQ\n' +
        '2024-01-02,tea,,,0,Meta,,\n' +
        '2024-01-02,tea,,,much,,,\n' +
        '2024-01-02,tea,,,,,utm_id,1\n' +
        '2024-01-02,tea,,,,billboards,,\n',
    );
    expect(led.clicks).toMatchObject([
      { ruleId: 'r1', variantId: 'b', asn: 3320, ad: { network: 'google', param: 'gclid', id: 'Cj0KCQ' } },
      { ruleId: '', variantId: '', asn: 0, ad: { network: 'meta', param: '', id: '' } },
    ]);
    expect(led.problems).toEqual([
      expect.stringMatching(/^4 .*autonomous system/),
      expect.stringMatching(/^5 .*must be one of gclid/),
      expect.stringMatching(/^6 .*must be one of google/),
    ]);
  });
});
