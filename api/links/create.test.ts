import { describe, expect } from 'vitest';
import { passwordMatches } from '../../core/access/passwords.ts';
import { CREATABLE_CHANNELS } from '../../core/enrich/channels.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { apiTest } from '../../test/support/fixtures.ts';
import { type CreatedLinks, campaign, createLink, refusedLink } from '../../test/support/links.ts';

const created = (shop: TestWorkspace, body: object) => createLink(shop, body);
const refused = (shop: TestWorkspace, body: object, status: number, path?: string) =>
  refusedLink(shop, body, status, path);

describe('forms of a create', () => {
  apiTest(
    'one channel makes one link, and its record has exactly the documented fields',
    async ({ shop }) => {
      const { first, destination_id } = await created(shop, campaign());
      expect(first).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        destination_id,
        name: 'Sale',
        slug: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{7}$/),
        domain: null,
        short_url: `https://hop.example/${first.slug}`,
        destination: 'https://shop.example/sale',
        channel: 'facebook',
        smart: false,
        external: false,
        external_id: null,
        metadata: null,
        utm_source: 'facebook',
        utm_medium: 'social',
        utm_campaign: 'Sale',
        tags: [],
        folder_id: null,
        targeting: null,
        rules: null,
        split: null,
        split_ends_at: null,
        split_goal: null,
        split_winner: null,
        utm_term: null,
        utm_content: null,
        redirect_status: 302,
        forward_query: true,
        forward_path: false,
        append_utm: true,
        append_visitor: true,
        starts_at: null,
        archived: false,
        expires_at: null,
        max_clicks: null,
        expired_redirect_url: null,
        password_protected: false,
        preview: null,
        retargeting: null,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
        updated_at: first.created_at,
      });
    },
  );

  apiTest('a folder in capital letters is the same one, and a replay says so too', async ({ shop }) => {
    const { body: folder } = await shop.post<{ id: string }>('/folders', { name: 'F' });
    const send = () =>
      shop.post<CreatedLinks>('/links', campaign({ folder_id: folder.id.toUpperCase() }), {
        headers: { 'idempotency-key': 'capitals' },
      });
    const { body } = await send();
    expect(body.links[0]?.folder_id).toBe(folder.id);
    expect((await shop.get(`/links/${body.links[0]?.id}`)).body).toEqual(body.links[0]);
    expect((await send()).body).toEqual(body);
  });

  apiTest(
    'every channel can be in one create, one link each, in the order of the request',
    async ({ shop }) => {
      const { links } = await created(shop, campaign({ channel: undefined, channels: CREATABLE_CHANNELS }));
      expect(links.map((link) => link.channel)).toEqual(CREATABLE_CHANNELS);
      expect(links.map((link) => link.utm_source)).toEqual(CREATABLE_CHANNELS);
      expect(links.filter((link) => link.utm_medium === 'local').map((link) => link.channel)).toEqual([
        'google_business',
      ]);
      expect(new Set(links.map((link) => link.created_at)).size).toBe(links.length);
    },
  );

  apiTest('a Smart Link has no channel and no utm_source of its own', async ({ shop }) => {
    const { first } = await created(shop, campaign({ channel: undefined, smart: true }));
    expect(first).toMatchObject({ channel: null, smart: true, utm_source: null, utm_medium: null });
  });

  apiTest('x is twitter', async ({ shop }) => {
    expect((await created(shop, campaign({ channel: 'x' }))).first.channel).toBe('twitter');
    const { links } = await created(shop, campaign({ channel: undefined, channels: ['x', 'reddit'] }));
    expect(links.map((link) => link.channel)).toEqual(['twitter', 'reddit']);
  });

  apiTest.for([
    ['none', {}],
    ['channel and channels', { channel: 'facebook', channels: ['reddit'] }],
    ['channel and smart', { channel: 'facebook', smart: true }],
    ['channels and smart', { channels: ['reddit'], smart: true }],
    ['only smart: false', { smart: false }],
  ] as const)('exactly one of channel, channels and smart: %s is 400', async ([_, more], { shop }) => {
    expect(await refused(shop, campaign({ channel: undefined, ...more }), 400, 'channel')).toBe(
      'bad_request',
    );
  });

  apiTest('smart: false beside a channel means the channel', async ({ shop }) => {
    expect((await created(shop, campaign({ smart: false }))).first.channel).toBe('facebook');
  });

  apiTest('a channel twice is 400, also as x and twitter; no channels are 400', async ({ shop }) => {
    await refused(shop, campaign({ channel: undefined, channels: ['reddit', 'reddit'] }), 400, 'channels');
    await refused(shop, campaign({ channel: undefined, channels: ['x', 'twitter'] }), 400, 'channels');
    await refused(shop, campaign({ channel: undefined, channels: [] }), 400, 'channels');
  });

  apiTest.for(['bio', 'referral', 'Facebook', 'myspace', ''])(
    'the channel "%s" can not be asked for',
    async (channel, { shop }) => {
      await refused(shop, campaign({ channel }), 400, 'channel');
      await refused(shop, campaign({ channel: undefined, channels: ['reddit', channel] }), 400, 'channels.1');
    },
  );

  apiTest('destination_url and name are required', async ({ shop }) => {
    await refused(shop, campaign({ destination_url: undefined }), 400, 'destination_url');
    await refused(shop, campaign({ name: undefined }), 400, 'name');
  });

  apiTest('unknown fields are ignored', async ({ shop }) => {
    const { first } = await created(
      shop,
      campaign({ nonsense: 1, targeting: { mobile: 'https://m.shop.example', tv: 'https://tv' } }),
    );
    expect(first.targeting).toEqual({ mobile: 'https://m.shop.example' });
    expect(first).not.toHaveProperty('nonsense');
  });
});

describe('types and limits', () => {
  apiTest.for([
    ['max_clicks', '5'],
    ['max_clicks', 0],
    ['max_clicks', 1.5],
    ['max_clicks', 2_147_483_648],
    ['smart', 'true'],
    ['external', 'yes'],
    ['name', 7],
    ['name', ''],
    ['name', 'x'.repeat(201)],
    ['tags', 'one'],
    ['metadata', 'text'],
    ['metadata', []],
    ['external_id', ''],
    ['external_id', 'x'.repeat(201)],
    ['expires_at', 'tomorrow'],
    ['expires_at', '2027-01-01T00:00:00'],
    ['expires_at', '0000-01-01T00:00:00+10:00'],
    ['expires_at', '9999-12-31T23:59:59-10:00'],
    ['destination_id', 'abc'],
    ['folder_id', 'abc'],
    ['password', ''],
    ['slug', ''],
    ['slug', 'a b'],
    ['slug', 'é'],
    ['slug', 'x'.repeat(65)],
    ['slug', 'admin'],
    ['slug', 'Admin'],
    ['utm_campaign', 5],
  ] as const)('%s: %j is 400 and names the field', async ([field, value], { shop }) => {
    await refused(shop, campaign({ [field]: value }), 400, field);
  });

  apiTest('the limits themselves are accepted', async ({ shop }) => {
    const { first } = await created(
      shop,
      campaign({
        max_clicks: 2_147_483_647,
        external_id: 'é'.repeat(200),
        slug: 'y'.repeat(64),
        metadata: { text: 'x'.repeat(4_096 - '{"text":""}'.length) },
      }),
    );
    expect(first.max_clicks).toBe(2_147_483_647);
    expect(first.external_id).toHaveLength(200);
  });

  apiTest('metadata over 4 KB serialized is 400, counted in bytes', async ({ shop }) => {
    await refused(shop, campaign({ metadata: { text: 'x'.repeat(4_096) } }), 400, 'metadata');
    await refused(shop, campaign({ metadata: { text: 'é'.repeat(2_100) } }), 400, 'metadata');
  });

  apiTest('metadata comes back as it was sent', async ({ shop }) => {
    const metadata = { nested: { list: [1, 2.5, null, true] }, ключ: '✓' };
    expect((await created(shop, campaign({ metadata }))).first.metadata).toEqual(metadata);
  });

  apiTest.for([
    'http://shop.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'shop',
    'https://user:secret@shop.example/',
    'https://hop.example/other',
    '',
  ])('the destination "%s" is 400', async (destination_url, { shop }) => {
    await refused(shop, campaign({ destination_url }), 400, 'destination_url');
  });

  apiTest(
    'targeting and expired_redirect_url keep to the scheme rules, not to the domain rule',
    async ({ shop }) => {
      await refused(shop, campaign({ targeting: { mobile: 'javascript:1' } }), 400, 'targeting.mobile');
      await refused(shop, campaign({ targeting: { desktop: 'http://x.example' } }), 400, 'targeting.desktop');
      await refused(shop, campaign({ expired_redirect_url: 'ftp://x.example' }), 400, 'expired_redirect_url');
      const { first } = await created(
        shop,
        campaign({
          targeting: { mobile: 'https://apps.other.example/1', desktop: 'https://web.another.example' },
          expired_redirect_url: 'https://over.third.example',
        }),
      );
      expect(first.targeting).toEqual({
        mobile: 'https://apps.other.example/1',
        desktop: 'https://web.another.example',
      });
      expect(first.expired_redirect_url).toBe('https://over.third.example');
    },
  );

  apiTest("retargeting takes pixel ids in their platform's form only", async ({ shop }) => {
    const retargeting = {
      facebook: '1234567890',
      google: 'AW-123456789',
      tiktok: 'C4A1B2C3D4E5F6G7H8I9',
      linkedin: '123456',
      x: 'o1abc',
      pinterest: '2612345678901',
    };
    expect((await created(shop, campaign({ retargeting }))).first.retargeting).toEqual(retargeting);
    for (const platform of Object.keys(retargeting)) {
      await refused(
        shop,
        campaign({ retargeting: { [platform]: '1");alert(1)//' } }),
        400,
        `retargeting.${platform}`,
      );
    }
    expect((await created(shop, campaign({ retargeting: {}, targeting: {} }))).first).toMatchObject({
      retargeting: null,
      targeting: null,
    });
  });

  apiTest('a password is stored as a scrypt hash and never returned', async ({ api, shop }) => {
    const answer = await shop.post<CreatedLinks>('/links', campaign({ password: 'open sesame' }));
    expect(answer.text).not.toContain('sesame');
    expect(answer.body.links[0]?.password_protected).toBe(true);
    const { rows } = await api.stores.pool.query('SELECT password_hash FROM links WHERE id = $1', [
      answer.body.links[0]?.id,
    ]);
    expect(rows[0].password_hash).toMatch(/^scrypt\$/);
    expect(await passwordMatches('open sesame', rows[0].password_hash)).toBe(true);
  });

  apiTest('expires_at takes any instant and comes back in UTC', async ({ shop }) => {
    const { first } = await created(shop, campaign({ expires_at: '2027-03-01T12:00:00+02:00' }));
    expect(first.expires_at).toBe('2027-03-01T10:00:00.000Z');
    expect((await created(shop, campaign({ expires_at: '2027-03-01' }))).first.expires_at).toBe(
      '2027-03-01T00:00:00.000Z',
    );
  });

  apiTest('utm_campaign is the name unless sent', async ({ shop }) => {
    expect((await created(shop, campaign({ utm_campaign: 'spring' }))).first.utm_campaign).toBe('spring');
    expect((await created(shop, campaign({ utm_campaign: null }))).first.utm_campaign).toBeNull();
  });

  apiTest('duplicate tags are stored once', async ({ shop }) => {
    expect((await created(shop, campaign({ tags: ['a', 'b', 'a'] }))).first.tags).toEqual(['a', 'b']);
  });
});
