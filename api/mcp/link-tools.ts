import { Type } from 'typebox';
import { CREATABLE_CHANNELS } from '../../core/enrich/channels.ts';
import { OneOf } from '../schemas.ts';
import { type LinkRecord, namedLink } from './named-link.ts';
import { filled, MOST_ROWS, readTool, rowsSentence, type Tool, writeTool } from './tool.ts';

/** Tools for links. */

const Link = Type.String({
  minLength: 1,
  maxLength: 2_100,
  description: 'Id, address, or slug of the link.',
});
const Text = (description: string, maxLength = 2_048) =>
  Type.Optional(Type.String({ maxLength, description }));

const listLinks = readTool({
  name: 'list_links',
  title: 'List links',
  description:
    'Links with their settings, and their clicks and revenue of the last 30 days. Search by text, or filter.',
  needs: ['GET /links/search'],
  input: Type.Object({
    q: Text('Text in the slug, the name, or the destination.', 200),
    channel: Type.Optional(OneOf([...CREATABLE_CHANNELS, 'bio', 'referral', 'smart'])),
    domain: Text("Links on this domain; `none`: on the service's own.", 255),
    folder_id: Type.Optional(Type.String({ format: 'uuid' })),
    tag: Text('Links of campaigns with this tag.', 50),
    status: Type.Optional(OneOf(['active', 'expired', 'used_up'])),
    archived: Type.Optional(OneOf(['include', 'only'])),
    sort: Type.Optional(OneOf(['created', 'name', 'clicks', 'visitors', 'conversions', 'revenue'])),
    order: Type.Optional(OneOf(['desc', 'asc'])),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MOST_ROWS, default: 20, description: 'Most links.' }),
    ),
    offset: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
  async run(api, query) {
    const { total, links } = await api<{ total: number; links: object[] }>('GET', '/links/search', { query });
    const next = (query.offset ?? 0) + links.length;
    const more =
      next < total
        ? `${total} in all; the next begin at \`offset\` ${next}, or ask for less with \`q\``
        : null;
    return { summary: rowsSentence(links.length, 'link', more), untrusted: links.map(filledDeeply) };
  },
});

/** A found link has its record in a field. */
const filledDeeply = (found: object) =>
  filled(
    Object.fromEntries(
      Object.entries(found).map(([name, value]) => [
        name,
        typeof value === 'object' && value !== null && !Array.isArray(value) ? filled(value) : value,
      ]),
    ),
  );

const getLink = readTool({
  name: 'get_link',
  title: 'Get a link',
  description: 'The settings of one link.',
  needs: ['GET /links/:id', 'GET /links'],
  input: Type.Object({ link: Link }),
  async run(api, { link }) {
    const found = await namedLink(api, link);
    return { summary: `The link ${found.id}.`, untrusted: filled(found) };
  },
});

/** Settings that a create and an update share. */
const SETTINGS = {
  name: Text('Name of the campaign.', 255),
  slug: Text('End of the address; a random one by default.', 64),
  domain: Text("A verified domain of the workspace; the service's own by default.", 255),
  tags: Type.Optional(Type.Array(Type.String({ maxLength: 50 }), { maxItems: 50 })),
  folder_id: Type.Optional(Type.String({ format: 'uuid' })),
  utm_source: Text('', 255),
  utm_medium: Text('', 255),
  utm_campaign: Text('', 255),
  utm_term: Text('', 255),
  utm_content: Text('', 255),
  expires_at: Text('An ISO 8601 instant, from which on the link responds with 410.', 40),
  max_clicks: Type.Optional(Type.Integer({ minimum: 1 })),
  expired_redirect_url: Text('Where an expired or used-up link leads.'),
};

const createLink = writeTool({
  name: 'create_link',
  title: 'Create a link',
  description:
    'Creates a campaign with a link for each channel; without a channel a Smart Link, which infers the channel of each click.',
  needs: ['POST /links'],
  input: Type.Object({
    destination_url: Type.String({ maxLength: 2_048, description: 'Where it leads.' }),
    ...SETTINGS,
    name: Type.String({ minLength: 1, maxLength: 255, description: 'Name of the campaign.' }),
    channels: Type.Optional(Type.Array(OneOf(CREATABLE_CHANNELS), { minItems: 1 })),
    external: Type.Optional(Type.Boolean({ description: 'The destination is a site that is not yours.' })),
  }),
  done: 'The link is created.',
  async preview(_api, { channels, ...fields }) {
    const channel = channels === undefined ? { smart: true } : { channels };
    const links =
      channels === undefined
        ? 'a Smart Link'
        : `${channels.length === 1 ? 'a link' : 'links'} on ${channels.join(', ')}`;
    const { destination_url: url, name, slug, ...settings } = fields;
    const more = Object.keys(settings).length === 0 ? '' : ` Settings: ${JSON.stringify(settings)}.`;
    const at = slug === undefined ? 'with a random slug' : `with the slug ${JSON.stringify(slug)}`;
    return {
      preview: `Creates the campaign ${JSON.stringify(name)}, which leads to ${JSON.stringify(url)}, with ${links}, ${at}.${more}`,
      untrusted: null,
      write: { method: 'POST', path: '/links', body: { ...fields, ...channel } },
    };
  },
});

/** Fields that are of the campaign, so that they change for all its links. */
const OF_CAMPAIGN = ['destination_url', 'name', 'tags', 'folder_id'];

const updateLink = writeTool({
  name: 'update_link',
  title: 'Change a link',
  description: 'Changes settings of a link. Destination, name, tags, and folder are those of its campaign.',
  needs: ['PATCH /links/:id', 'GET /links/:id', 'GET /links'],
  input: Type.Object({
    link: Link,
    changes: Type.Object(
      {
        destination_url: Text('Where the links of the campaign lead.'),
        ...SETTINGS,
        archived: Type.Optional(Type.Boolean({ description: 'Left out of lists; it redirects.' })),
      },
      {
        minProperties: 1,
        additionalProperties: false,
        description: 'The new values. Other settings stay.',
      },
    ),
  }),
  done: 'The link is changed.',
  async preview(api, { link, changes }) {
    const found = await namedLink(api, link);
    const set = Object.entries(changes).map(([name, value]) => `\`${name}\` to ${JSON.stringify(value)}`);
    const shared = Object.keys(changes).filter((name) => OF_CAMPAIGN.includes(name));
    const others = shared.length === 0 ? '' : ` All links of its campaign get the same ${shared.join(', ')}.`;
    return {
      preview: `Sets ${set.join(', ')} of the link ${found.short_url} (${found.id}).${others}`,
      untrusted: { before: before(found, changes) },
      write: {
        method: 'PATCH',
        path: `/links/${found.id}`,
        body: changes,
        unchangedSince: found.updated_at,
      },
    };
  },
});

/** The present values of the fields that change. The record calls a destination by a shorter name. */
const before = (link: LinkRecord, changes: object) =>
  Object.fromEntries(
    Object.keys(changes).map((name) => [name, name === 'destination_url' ? link.destination : link[name]]),
  );

const deleteLink = writeTool({
  name: 'delete_link',
  title: 'Delete a link',
  description: 'Deletes a link for good: its address responds with 404, and its clicks stay in reports.',
  needs: ['DELETE /links/:id', 'GET /links/:id', 'GET /links'],
  input: Type.Object({ link: Link }),
  done: 'The link is deleted.',
  async preview(api, { link }) {
    const found = await namedLink(api, link);
    return {
      preview: `Deletes the link ${found.short_url} (${found.id}) for good. Its visitors then get 404. Its clicks stay in reports.`,
      untrusted: filled(found),
      write: { method: 'DELETE', path: `/links/${found.id}`, unchangedSince: found.updated_at },
    };
  },
});

export const LINK_READ_TOOLS: readonly Tool[] = [listLinks, getLink];
export const LINK_WRITE_TOOLS: readonly Tool[] = [createLink, updateLink, deleteLink];
