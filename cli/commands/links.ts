import { type Command, Option } from 'commander';
import { CREATABLE_CHANNELS } from '../../core/enrich/channels.ts';
import { linkName } from '../../core/link-imports/values.ts';
import type { CreateLinks, Link } from '../../sdk/typescript/src/generated/types.ts';
import type { Hoplog } from '../../sdk/typescript/src/hoplog.ts';
import { wholeNumber } from '../arguments.ts';
import { clipped, isJson, printResult, table, WrongUsage } from '../output.ts';
import { dataOption, given, names, objectData } from '../user/arguments.ts';
import { writeBody } from '../user/byte-output.ts';
import { userClient } from '../user/client.ts';
import { namedLink } from '../user/named-link.ts';
import { terminalQr } from '../user/terminal-qr.ts';

const MOST_LISTED = 10_000;
/** Columns of a list's destination and name; `--json` has them whole. */
const SHOWN = 48;

type Settings = {
  name?: string;
  slug?: string;
  domain?: string;
  tags?: string[];
  folder?: string;
  expires?: string;
  maxClicks?: number;
  data?: string;
};
type CreateOptions = Settings & {
  channel?: string[];
  smart?: boolean;
  external?: boolean;
  campaign?: string;
  externalId?: string;
};
type ListOptions = {
  channel?: string;
  domain?: string;
  slug?: string;
  campaign?: string;
  archived?: boolean;
  limit: number;
};
type QrOptions = { format?: 'svg' | 'png'; size?: number; output?: string };

const NAMED = 'id, address such as go.example.com/sale, or slug';
const channelOption = (text: string) => new Option('--channel <channel>', text).choices(CREATABLE_CHANNELS);

/** The settings that a create and an update share. */
const withSettings = (command: Command) =>
  command
    .option('--name <name>', 'name of the campaign')
    .option('--slug <slug>', 'the end of the address; a random one by default')
    .option('--domain <domain>', "a verified domain of the workspace; the service's own by default")
    .option('--tags <tags>', 'tags of the campaign, separated by commas', names)
    .option('--folder <id>', 'folder of the campaign')
    .option('--expires <time>', 'an ISO 8601 instant, from which on the link responds with 410')
    .option('--max-clicks <n>', 'exact number of visits that are redirected', wholeNumber(1, 2_147_483_647))
    .addOption(dataOption());

const settingsOf = ({ name, slug, domain, tags, folder, expires, maxClicks }: Settings) =>
  given({ name, slug, domain, tags, folder_id: folder, expires_at: expires, max_clicks: maxClicks });

const rowOf = (link: Link) => [
  link.short_url,
  link.channel ?? 'smart',
  clipped(link.name, SHOWN),
  clipped(link.destination, SHOWN),
  link.created_at.slice(0, 10),
];
const listed = (links: readonly Link[]) =>
  table(['address', 'channel', 'name', 'destination', 'created'], links.map(rowOf));

/** A link's fields that are set, one in a line. */
function described(link: Link): string {
  const fields = Object.entries(link)
    .filter(([, value]) => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)]);
  const [first = [], ...others] = fields;
  return table(first, others);
}

/** `hoplog links create | list | get | update | delete | qr`. */
export function linksCommands(program: Command): void {
  const group = program.command('links').description('links of the workspace');

  withSettings(group.command('create'))
    .description('create a link; without a channel a Smart Link, which infers the channel of each click')
    .argument('[destination]', 'where it leads; left out with --campaign')
    .option('--channel <channels>', `channels, a link for each: ${CREATABLE_CHANNELS.join(', ')}`, names)
    .option('--smart', 'a Smart Link')
    .option('--external', 'the destination is a site that is not yours')
    .option('--campaign <id>', 'add to this campaign, the destination_id of its links')
    .option('--external-id <id>', 'an id of yours: a second create with it returns the same link')
    .action(async (destination: string | undefined, options: CreateOptions, command: Command) => {
      const body = createBody(destination, options);
      const result = await userClient().links.create(body as CreateLinks);
      printResult(command, result, ({ links }) => links.map(({ short_url }) => short_url).join('\n'));
    });

  group
    .command('list')
    .description('list links, newest first')
    .addOption(channelOption('only links on this channel'))
    .option('--domain <domain>', "only links on this domain; none: on the service's own")
    .option('--slug <text>', 'only links with this text in their slug')
    .option('--campaign <id>', 'only links of this campaign')
    .option('--archived', 'archived links too')
    .option('--limit <n>', 'most links', wholeNumber(1, MOST_LISTED), 50)
    .action(async (options: ListOptions, command: Command) => {
      const result = await listLinks(userClient(), options);
      printResult(command, result, ({ links }) => (links.length === 0 ? 'no links' : listed(links)));
      if (result.more && !isJson(command)) {
        process.stderr.write(`the newest ${options.limit}; --limit shows more\n`);
      }
    });

  group
    .command('get')
    .description('show a link')
    .argument('<link>', NAMED)
    .action(async (text: string, _options: object, command: Command) => {
      printResult(command, await namedLink(userClient(), text), described);
    });

  withSettings(group.command('update'))
    .description('change settings of a link; name, tags, folder, and destination are those of its campaign')
    .argument('<link>', NAMED)
    .option('--destination <url>', 'where the links of the campaign lead')
    .option('--archive', 'leave it out of lists')
    .option('--no-archive', 'put it back')
    .action(
      async (
        text: string,
        options: Settings & { destination?: string; archive?: boolean },
        command: Command,
      ) => {
        const own = given({ destination_url: options.destination, archived: options.archive });
        const body = { ...objectData(options.data), ...settingsOf(options), ...own };
        if (Object.keys(body).length === 0) throw new WrongUsage('nothing to change: name a setting');
        const hoplog = userClient();
        const { id } = await namedLink(hoplog, text);
        printResult(command, await hoplog.links.update(id, body), described);
      },
    );

  group
    .command('delete')
    .description('delete a link; its address is then unknown, and its clicks stay in reports')
    .argument('<link>', NAMED)
    .action(async (text: string, _options: object, command: Command) => {
      const hoplog = userClient();
      const link = await namedLink(hoplog, text);
      await hoplog.links.delete(link.id);
      const result = { deleted: link.id, short_url: link.short_url };
      printResult(command, result, ({ deleted, short_url }) => `deleted ${short_url} (${deleted})`);
    });

  group
    .command('qr')
    .description('make the QR code of a link; drawn on a terminal, else an SVG')
    .argument('<link>', NAMED)
    .addOption(new Option('--format <format>', 'form of the image').choices(['svg', 'png']))
    .option('--size <pixels>', 'width and height', wholeNumber(64, 2_048))
    .option('--output <file>', 'write the image to this file; .png and .svg name its form')
    .action(async (text: string, options: QrOptions, command: Command) => {
      if (isJson(command) && options.output === undefined) {
        throw new WrongUsage('--json needs --output for the image');
      }
      const hoplog = userClient();
      const link = await namedLink(hoplog, text);
      if (process.stdout.isTTY && !options.output && !options.format && !isJson(command)) {
        process.stdout.write(`${terminalQr(link.short_url)}\n${link.short_url}\n`);
        return;
      }
      const format = options.format ?? (/\.png$/i.test(options.output ?? '') ? 'png' : 'svg');
      const image = await hoplog.links.getQr(link.id, given({ format, size: options.size }));
      if (!isJson(command)) {
        await writeBody(image as Response, options.output ?? null);
        return;
      }
      const bytes = await writeBody(image as Response, options.output ?? null);
      printResult(command, { file: options.output, format, bytes }, String);
    });
}

/** Returns the body of a create. A link without a name gets that of its destination, as in imports. */
function createBody(destination: string | undefined, options: CreateOptions): Record<string, unknown> {
  const data = objectData(options.data);
  const { channel, smart, external, campaign, externalId } = options;
  const own = given({
    destination_url: destination,
    destination_id: campaign,
    external_id: externalId,
    ...(channel && (channel.length === 1 ? { channel: channel[0] } : { channels: channel })),
    smart,
    external,
  });
  const body: Record<string, unknown> = { ...data, ...settingsOf(options), ...own };
  const { destination_url: url, destination_id: id } = body;
  if (url === undefined && id === undefined) {
    throw new WrongUsage('name a destination, or a campaign with --campaign');
  }
  if (!['channel', 'channels', 'smart'].some((field) => field in body)) body.smart = true;
  if (typeof url === 'string' && id === undefined) body.name ??= linkName(null, url, '');
  return body;
}

async function listLinks(hoplog: Hoplog, options: ListOptions): Promise<{ links: Link[]; more: boolean }> {
  const { channel, domain, slug, campaign, archived, limit } = options;
  const query = given({
    channel: channel as (typeof CREATABLE_CHANNELS)[number] | undefined,
    domain,
    slug,
    destination_id: campaign,
    archived: archived ? ('include' as const) : undefined,
  });
  const links: Link[] = [];
  for await (const link of hoplog.links.list(query)) {
    if (links.length === limit) return { links, more: true };
    links.push(link);
  }
  return { links, more: false };
}
