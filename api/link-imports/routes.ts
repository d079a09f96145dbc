import { creatableChannel } from '../../core/enrich/channels.ts';
import { badRequest } from '../../core/errors.ts';
import { csvRows } from '../../core/link-imports/csv-rows.ts';
import type { Format } from '../../core/link-imports/formats/format.ts';
import { UnknownFormat } from '../../core/link-imports/formats/known.ts';
import { jsonRows } from '../../core/link-imports/json-rows.ts';
import type { ReadRow } from '../../core/link-imports/source-row.ts';
import { formOf } from '../../core/link-imports/text-form.ts';
import type { Slice } from '../../core/tier/time-slices.ts';
import { rolledBack } from '../../sql/database/rolled-back.ts';
import { linkHosts } from '../../sql/domains/domains.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { importDomains } from './import-domains.ts';
import {
  type ImportResult,
  type ImportSource,
  type ReadImport,
  readImport,
  writeImport,
} from './import-links.ts';
import { IMPORT_LIMIT, ImportBody, Imported } from './schemas.ts';

/** Bytes of a body: 1,000 rows of 4 KiB. Its one long string is parsed in one step. */
const IMPORT_BODY_LIMIT = 4 * 1_048_576;

/** Registers `POST /links/import`: links from another system's export. Any plan, up to its cap of links. */
export async function linkImportRoutes(app: Api, { config, pool, blockedDomains }: ApiDeps): Promise<void> {
  app.post(
    '/links/import',
    {
      bodyLimit: IMPORT_BODY_LIMIT,
      config: { scope: 'secret', plan: 'any', idempotent: true },
      schema: {
        tags: ['Links'],
        operationId: 'links.import',
        summary: 'Import up to 1,000 links from an export',
        description: DESCRIPTION,
        body: ImportBody,
        response: { 200: Imported },
      },
    },
    async (request, reply) => {
      const { text, from, channel, append_utm: appendUtm, domain, unproven } = request.body;
      const { workspace } = request.auth;
      const proven = await linkHosts(pool, workspace.id);
      const slice = app.beginSlices();
      let format: string | null = null;
      const read = await readWhole(text, {
        slice,
        from,
        config,
        blockedDomains,
        appendUtm,
        primaryDomain: workspace.primary_domain,
        domains: importDomains(config.shortUrl, { proven, standard: domain, unproven }),
        channel: channel === 'smart' ? ('smart' as const) : (creatableChannel(channel) ?? 'other'),
        onFormat({ name }: Format) {
          format = name;
        },
      });
      const shown = ({ errors, ...counts }: ImportResult) => ({
        format,
        ...counts,
        // Without the rows: the client has them, and they may hold passwords.
        errors: errors.map(({ row: _, ...error }) => error),
      });
      if (request.body.dry_run) {
        const earlier = request.body.earlier_links;
        return shown(await rolledBack(pool, (tx) => writeImport(tx, workspace.id, read, { earlier })));
      }
      return withIdempotency(pool, request, reply, async (tx) => ({
        status: 200,
        body: shown(await writeImport(tx, workspace.id, read)),
      }));
    },
  );
}

/** @throws {AppError} `bad_request` when the format is unknown, or there are too many rows */
async function readWhole(
  text: string,
  source: Omit<ImportSource, 'rows'> & { slice: Slice },
): Promise<ReadImport> {
  try {
    return await readImport({ ...source, rows: await readRows(text, source.slice) });
  } catch (error) {
    if (error instanceof UnknownFormat) {
      throw source.from === undefined
        ? badRequest('text', `must be in a known format: ${error.message}`)
        : badRequest('from', `must be the format of the text: it is ${error.message}`);
    }
    throw error;
  }
}

/**
 * Parses all rows before the first link is made, so that a text with too many is refused as a whole.
 *
 * @throws {AppError} `bad_request` when there are more than {@link IMPORT_LIMIT}
 */
async function readRows(text: string, slice: Slice): Promise<ReadRow[]> {
  const whole = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const form = formOf(whole);
  const pieces = inPieces(whole, slice);
  const rows: ReadRow[] = [];
  for await (const row of form.kind === 'json' ? jsonRows(pieces) : csvRows(pieces, form)) {
    if (rows.length === IMPORT_LIMIT) {
      throw badRequest('text', `must have at most ${IMPORT_LIMIT} rows; send the rest in another request`);
    }
    rows.push(row);
    await slice();
  }
  return rows;
}

/** Characters that are parsed in one step. */
const PIECE = 4_096;

/** Splits the text, so that parsing stops soon after too many rows. */
async function* inPieces(text: string, slice: Slice): AsyncGenerator<string> {
  for (let at = 0, end = 0; at < text.length; at = end) {
    await slice();
    end = at + PIECE;
    // Never inside a surrogate pair, which would be lost.
    if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end += 1;
    yield text.slice(at, end);
  }
}

const DESCRIPTION = `Reads CSV and JSON exports of Bitly, Dub, YOURLS, Shlink and Kutt, and Hoplog's own CSV, whose columns are
the fields of \`POST /links\` (nested fields are columns such as \`targeting.mobile\`; lists are separated by commas).
JSON rows are objects in an array, also inside an API's envelope, or JSON lines.

Each row is validated like a \`POST /links\`. A refused row does not affect the others and is in \`errors\` with its line. A
row whose link already exists, by its \`external_id\` or by its slug with the same destination, is skipped. So you can send
an interrupted call again; use the same \`Idempotency-Key\` if rows have neither. Split a longer file into several calls, each
with the header line.

With \`dry_run\` the response is the same, and nothing is written.

Values between commas or semicolons may be quoted; a stray or unclosed quote is an error of its line. Values between tabs
or bars are taken as they are, as \`mysql --batch\` and \`sqlite3\` write them. \`read\` is the number of rows. Destinations
may begin with \`http://\`, and get UTM parameters only if the row names one or \`append_utm\` is true.

A link is on the domain that its row names, by a column \`domain\` or its full short URL: a verified domain of the workspace,
or the deployment's own. \`domain\` is for rows that name none, and \`unproven\` for those that name another domain.

A password is taken from the file in clear, or as a bcrypt, scrypt, or argon2 hash. A row of which the file only says that it
has a password is refused: the link would be open.

Destinations on the workspace's primary domain are its own; others count as \`external\`. An import never sets the domain.`;
