import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { WrongClickFile } from '../../core/click-imports/formats/known.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { encodingOf, formOf, type TextForm } from '../../core/link-imports/text-form.ts';
import type { Slice } from '../../core/tier/time-slices.ts';
import { formatInstant, NANOS_PER_MICRO } from '../../core/time/timestamps.ts';
import { type ClickImport, clickImport, listClickImports } from '../../sql/event-log/click-imports.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { Uuid } from '../schemas.ts';
import { importClicks } from './import-clicks.ts';
import { importOrders } from './import-orders.ts';
import {
  ClickImportBody,
  ClickImportQuery,
  ClickImportResult,
  ClickImports,
  ClickImportUndone,
} from './schemas.ts';
import { undoImport } from './undo-import.ts';

/** Bytes of a body. */
const BODY_LIMIT = 64 * 1_048_576;
/** Imports of one process at a time: each holds its body in memory. */
const AT_A_TIME = 2;
/** Bytes that are decoded in one step. */
const PIECE = 65_536;

/** Registers `POST /clicks/import`, the list of imports, and their undoing. */
export async function clickImportRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config } = deps;
  let running = 0;

  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) => body);
    (scope as Api).post(
      '/clicks/import',
      {
        bodyLimit: BODY_LIMIT,
        config: { scope: 'secret', plan: 'paid', errors: ['conflict'], document: { body: ClickImportBody } },
        schema: {
          tags: ['Clicks'],
          operationId: 'clicks.import',
          summary: 'Import clicks of another service',
          description: DESCRIPTION,
          consumes: ['text/csv', 'application/x-ndjson'],
          querystring: ClickImportQuery,
          response: { 200: ClickImportResult },
        },
        preParsing: async (_request, reply) => {
          if (running >= AT_A_TIME) {
            throw new AppError('too_many_requests', 'imports of clicks are under way: try again later');
          }
          running += 1;
          reply.raw.once('close', () => {
            running -= 1;
          });
        },
      },
      async (request) => {
        const { auth, query } = request;
        const body = textOf(request.body);
        const { dry_run: dryRun, import_id: importId } = query;
        await requireOwn(auth.workspace.id, importId);
        const slice = app.beginSlices();
        try {
          const given = {
            pool,
            clickhouses: deps,
            workspace: auth.workspace,
            shortUrl: config.shortUrl,
            source: query.from,
            text: inPieces(body.bytes, slice),
            form: body.form,
            importId,
            dryRun,
            link: query.link,
            domain: query.domain,
            slice,
          };
          const result = await (query.content === 'orders' ? importOrders(given) : importClicks(given));
          return { ...result, import_id: dryRun ? null : result.import_id };
        } catch (error) {
          if (error instanceof WrongClickFile) throw badRequest('body', `is ${error.message}`);
          throw error;
        }
      },
    );
  });

  app.get(
    '/clicks/imports',
    {
      config: { scope: 'secret', plan: 'paid' },
      schema: {
        tags: ['Clicks'],
        operationId: 'clicks.listImports',
        summary: 'List imports of clicks, newest first',
        description: 'The newest 500, undone ones too.',
        response: { 200: ClickImports },
      },
    },
    async ({ auth }) => ({ imports: (await listClickImports(pool, auth.workspace.id)).map(shown) }),
  );

  app.delete(
    '/clicks/imports/:id',
    {
      config: { scope: 'secret', plan: 'paid', errors: ['conflict'] },
      schema: {
        tags: ['Clicks'],
        operationId: 'clicks.undoImport',
        summary: 'Undo an import of clicks',
        description:
          'Its clicks leave every response at once, its orders within seconds, and reports of large windows follow within a minute. Both can be imported again.',
        params: Type.Object({ id: Uuid }),
        response: { 200: ClickImportUndone },
      },
    },
    async (request) => {
      const { workspace } = request.auth;
      return undoImport(
        { pool, clickhouses: deps },
        { workspaceId: workspace.id, importId: request.params.id },
        (tx) => request.audit(tx),
      );
    },
  );

  /** @throws {AppError} `bad_request` for an import of another workspace, or one that was undone */
  async function requireOwn(workspaceId: string, importId: string | undefined): Promise<void> {
    if (importId === undefined) return;
    const known = await clickImport(pool, workspaceId, importId);
    if (known?.undone_at) throw badRequest('import_id', 'was undone: start a new import');
  }
}

/** @throws {AppError} `bad_request` for an empty body, or one that is not text */
function textOf(body: unknown): { bytes: Buffer; form: TextForm } {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  const head = new TextDecoder(encodingOf(bytes)).decode(bytes.subarray(0, PIECE));
  if (head.trim() === '') throw badRequest('body', 'must be CSV or NDJSON: it is empty');
  if (head.includes('\0')) throw badRequest('body', 'must be text: CSV or NDJSON');
  return { bytes, form: formOf(head) };
}

async function* inPieces(bytes: Buffer, slice: Slice): AsyncGenerator<string> {
  const decoder = new TextDecoder(encodingOf(bytes));
  for (let at = 0; at < bytes.length; at += PIECE) {
    await slice();
    yield decoder.decode(bytes.subarray(at, at + PIECE), { stream: true });
  }
  yield decoder.decode();
}

function shown(one: ClickImport) {
  const { id, source, clicks, orders, first_ts, last_ts, created_at, undone_at, removed_at } = one;
  const instant = (micros: number | null) =>
    micros === null ? null : formatInstant(BigInt(micros) * NANOS_PER_MICRO, 6);
  return {
    id,
    source,
    clicks,
    orders,
    first_ts: instant(first_ts),
    last_ts: instant(last_ts),
    created_at: created_at.toISOString(),
    undone_at: undone_at?.toISOString() ?? null,
    removed_at: removed_at?.toISOString() ?? null,
  };
}

const DESCRIPTION = `Clicks keep their own time, at most 20 years back, and are in every report, export and journey with \`imported: true\`.
Polls with \`since\`, live clicks, webhooks, the plan's events and \`max_clicks\` leave them out. Reports of large windows and
journeys have them within a minute.

\`ts\` is an ISO 8601 time. The link is named by \`link_id\`, \`short_url\`, or \`slug\` with an optional \`domain\`. \`channel\` is the link's
unless the row names one. \`visitor\` is what the source calls a visitor, or a visitor's UUID; without it no visitor is known again. Browser,
system and device are read from \`user_agent\` where the row has one. With \`count\` a row stands for that many clicks, of unknown visitors.

With \`content=orders\` rows are orders with their own time: an amount in major units, of the workspace's currency unless the row names one,
and its visitor, the buyer's email, or the link that led there. They are in every report, attributed as any order is. No purchase, commission
or webhook comes of them. An order whose id the workspace has is skipped.

A row that was imported before is skipped, so you can send an interrupted call again. Equal rows in one call are several clicks; in two
calls they are the same ones. Send a larger file in several calls with the same \`import_id\`, each with the header line. One import of
a workspace runs at a time. A 409 while an import of the workspace is taken back.`;
