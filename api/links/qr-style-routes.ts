import type { Static } from 'typebox';
import { inTransaction } from '../../sql/database/pool.ts';
import { linkById, lockLink } from '../../sql/links/links.ts';
import { linkQrStyle, setLinkQrStyle } from '../../sql/links/qr-styles.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { IdParams } from '../schemas.ts';
import { noSuchLink } from './change.ts';
import { PLAIN_STYLE, QrStyleChange, QrStyleRecord } from './qr-schemas.ts';
import { changedQrStyle, checkQrChange, qrStyleRecord } from './qr-style.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Links'];

/** Registers the routes of how a link's QR code looks. */
export async function linkQrStyleRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/links/:id/qr/style',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'links.getQrStyle',
        summary: "Get how a link's QR code looks",
        params: IdParams,
        response: { 200: QrStyleRecord },
      },
    },
    async ({ auth, params }) => {
      if (!(await linkById(pool, auth.workspace.id, params.id))) throw noSuchLink();
      return qrStyleRecord((await linkQrStyle(pool, auth.workspace.id, params.id)) ?? PLAIN_STYLE);
    },
  );

  app.patch(
    '/links/:id/qr/style',
    {
      config: { ...CONFIG, checkRest: (body: Static<typeof QrStyleChange>) => checkQrChange(body) },
      schema: {
        tags,
        operationId: 'links.updateQrStyle',
        summary: "Change how a link's QR code looks",
        description:
          'Changes the given fields and leaves the others. `GET /links/{id}/qr` draws the code so, unless a parameter says otherwise.',
        params: IdParams,
        body: QrStyleChange,
        response: { 200: QrStyleRecord },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      const workspaceId = auth.workspace.id;
      return inTransaction(pool, async (tx) => {
        if (!(await lockLink(tx, workspaceId, params.id))) throw noSuchLink();
        const before = (await linkQrStyle(tx, workspaceId, params.id)) ?? PLAIN_STYLE;
        const style = await changedQrStyle(tx, workspaceId, before, body);
        await setLinkQrStyle(tx, workspaceId, params.id, style);
        await request.audit(tx);
        return qrStyleRecord(style);
      });
    },
  );
}
