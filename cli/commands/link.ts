import type { Command } from 'commander';
import { AppError } from '../../core/errors.ts';
import { shortUrlOf } from '../../core/links/short-urls.ts';
import { inTransaction, type Queryable } from '../../sql/database/pool.ts';
import { type BlockableLink, blockLink, linksNamed } from '../../sql/links/blocks.ts';
import { readLinkName } from '../link-name.ts';
import { printResult, table } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { withStores } from '../stores.ts';

/** Maximum number of links in an error, when a slug is on several domains. */
const MOST_NAMED = 20;

const describe = (link: BlockableLink) =>
  table(
    ['id', 'domain', 'slug', 'workspace', 'destination', 'blocked'],
    [
      [
        link.id,
        link.domain ?? '-',
        link.slug,
        link.workspace_id,
        link.destination_url,
        link.blocked_at?.toISOString() ?? '-',
      ],
    ],
  );

/** Returns the one link that an operator names. @throws {AppError} when there is none, or there are several */
async function namedLink(db: Queryable, text: string, shortUrl: string): Promise<BlockableLink> {
  const name = readLinkName(text, shortUrl);
  const found = await linksNamed(db, name, MOST_NAMED);
  // A slug may have the form of an id.
  const isSlug = name.kind === 'id' && found.length === 0;
  const [link, ...others] = isSlug ? await linksNamed(db, { kind: 'slug', slug: text }, MOST_NAMED) : found;
  if (!link) {
    throw new AppError('not_found', `no link has the id, slug or address ${JSON.stringify(text)}`);
  }
  if (others.length === 0) return link;
  const addresses = [link, ...others].map((one) => `${shortUrlOf(shortUrl, one)} (${one.id})`);
  throw new AppError(
    'conflict',
    `several links have the slug ${JSON.stringify(text)}; name one by its address or id: ${addresses.join(', ')}`,
  );
}

/** `hoplog link block | unblock`. */
export function linkCommands(program: Command): void {
  const group = program.command('link').description('links of all workspaces');
  for (const isBlocked of [true, false]) {
    group
      .command(isBlocked ? 'block' : 'unblock')
      .description(
        isBlocked
          ? 'respond to visitors of a link with 410 and a page that says so, within a second'
          : 'let a blocked link redirect again',
      )
      .argument('<link>', 'id, slug, or address such as go.example.com/sale')
      .action(async (text: string, _options: object, command: Command) => {
        const result = await withStores(({ config, pool }) =>
          inTransaction(pool, async (tx) => {
            const { id } = await namedLink(tx, text, config.shortUrl);
            const link = await blockLink(tx, id, isBlocked);
            if (!link) throw new AppError('not_found', `the link ${id} no longer exists`);
            await recordOperator(tx, {
              workspaceId: link.workspace_id,
              action: isBlocked ? 'link.block' : 'link.unblock',
              target: { type: 'link', id: link.id },
            });
            return { link };
          }),
        );
        printResult(command, result, ({ link }) => describe(link));
      });
  }
}
