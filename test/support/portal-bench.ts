import type { ApiDeps } from '../../api/dependencies.ts';
import { readConfig } from '../../core/settings/config.ts';
import { affiliatesOf } from './affiliates.ts';
import { type TestApi, testApi } from './api.ts';
import { MAIL_ENVIRONMENT, startMailer } from './mail-bench.ts';
import { type MailServer, startMailServer } from './mail-server.ts';

/** An API with its portal, whose mails a worker sends to a mail server. */
export type PortalBench = {
  api: TestApi;
  server: MailServer;
  people: ReturnType<typeof affiliatesOf>;
  close(): Promise<void>;
};

/** @param change replaces some of the API's dependencies */
export async function portalBench(change: Partial<ApiDeps> = {}): Promise<PortalBench> {
  const config = readConfig({ ...MAIL_ENVIRONMENT, SHORT_URL: 'https://hop.example' });
  const api = await testApi(() => ({ config, ...change }));
  const server = await startMailServer();
  const mailer = startMailer(api.stores.pool, server.url);
  return {
    api,
    server,
    people: affiliatesOf(api, server),
    async close() {
      await mailer.stop();
      await server.close();
      await api.close();
    },
  };
}
