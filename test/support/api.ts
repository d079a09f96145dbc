import type { LightMyRequestResponse } from 'fastify';
import { Registry } from 'prom-client';
import { openReaders } from '../../analytics/replicas/open-readers.ts';
import { createApi } from '../../api/app.ts';
import type { Api, ApiDeps, GivenApiDeps } from '../../api/dependencies.ts';
import { LINK_COST } from '../../core/access/passwords.ts';
import { readConfig } from '../../core/settings/config.ts';
import { MAIN_REPLICA } from '../../core/settings/replicas.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { createKey } from '../../sql/workspaces/keys.ts';
import {
  createWorkspace,
  type Plan,
  updateWorkspace,
  type Workspace,
  type WorkspaceSettings,
} from '../../sql/workspaces/workspaces.ts';
import { openTestJournal, temporaryDataDir } from './journal.ts';
import { type TestStores, testStores } from './stores.ts';

/** A response of the API with its body parsed. `T` is the expected type of the body. */
export type Answer<T> = {
  status: number;
  body: T;
  text: string;
  headers: LightMyRequestResponse['headers'];
};

export type CallOptions = {
  /** The bearer token; default: the workspace's secret key; null: none. */
  key?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
};

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** A workspace with its keys, and the calls that it makes. Paths are below `/api/v1`. */
export type TestWorkspace = {
  workspace: Workspace;
  secretKey: string;
  publishableKey: string;
  call<T = ErrorBody>(method: Method, path: string, options?: CallOptions): Promise<Answer<T>>;
  get<T = ErrorBody>(path: string, options?: CallOptions): Promise<Answer<T>>;
  post<T = ErrorBody>(path: string, body?: unknown, options?: CallOptions): Promise<Answer<T>>;
  patch<T = ErrorBody>(path: string, body?: unknown, options?: CallOptions): Promise<Answer<T>>;
  delete<T = ErrorBody>(path: string, options?: CallOptions): Promise<Answer<T>>;
};

/** The envelope of an error. */
export type ErrorBody = {
  error: {
    code: string;
    message: string;
    request_id: string;
    doc_url: string;
    details?: { path: string; message: string; code?: string; hint?: string }[];
  };
};

export type TestApi = {
  app: Api;
  deps: ApiDeps;
  stores: TestStores;
  addWorkspace(options?: WorkspaceOptions): Promise<TestWorkspace>;
  close(): Promise<void>;
};

export type WorkspaceOptions = { name?: string; plan?: Plan } & Omit<WorkspaceSettings, 'plan'>;

/**
 * Starts the API on databases and a journal of its own, and PgBouncer in front of PostgreSQL where it is installed.
 * Call it in `beforeAll`, and `close()` in `afterAll`.
 *
 * @param change replaces some of the API's dependencies, such as a database that is down
 * @param options.bySocket past PgBouncer, and on PostgreSQL's Unix socket, for a test of a hundred thousand queries
 */
export async function testApi(
  change: (deps: GivenApiDeps) => Partial<ApiDeps> = () => ({}),
  { bySocket = false } = {},
): Promise<TestApi> {
  const stores = await testStores({ isPooled: !bySocket, bySocket });
  const disk = temporaryDataDir();
  const journal = await openTestJournal(disk.dataDir, { streamName: 'api-0' });
  const ground: GivenApiDeps = {
    config: readConfig({ SHORT_URL: 'https://hop.example' }),
    pool: stores.pool,
    clickhouse: stores.clickhouse,
    eventLog: journal,
    log: silentLogger(),
    registry: new Registry(),
    // A fifth of the real cost, because each sign-in of a test hashes a password.
    passwordCost: LINK_COST,
  };
  const given = { ...ground, ...change(ground) };
  const main = { name: MAIN_REPLICA, clickhouse: given.clickhouse };
  const { replicas = [main] as const, readers = openReaders(given.pool, replicas, given.log) } = given;
  const deps = { ...given, replicas, readers };
  const app = await createApi(deps);
  return {
    app,
    deps,
    stores,
    addWorkspace: (options) => addWorkspace(app, stores, options),
    async close() {
      await app.close();
      await journal.close();
      disk.remove();
      await stores.close();
    },
  };
}

async function addWorkspace(
  app: Api,
  { pool }: TestStores,
  { name = 'Test', plan = 'unlimited', ...settings }: WorkspaceOptions = {},
): Promise<TestWorkspace> {
  const made = await createWorkspace(pool, { name, plan });
  const workspace = (await updateWorkspace(pool, made.id, settings)) ?? made;
  const keyOf = async (kind: 'secret' | 'publishable') =>
    (await createKey(pool, { workspaceId: made.id, kind, label: kind })).token;
  const secretKey = await keyOf('secret');
  const publishableKey = await keyOf('publishable');

  const call = async <T>(method: Method, path: string, options: CallOptions = {}): Promise<Answer<T>> => {
    const { key = secretKey, body, headers = {} } = options;
    const response = await app.inject({
      method,
      url: `/api/v1${path}`,
      headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    return {
      status: response.statusCode,
      body: (isJson && response.body !== '' ? response.json() : response.body) as T,
      text: response.body,
      headers: response.headers,
    };
  };
  return {
    workspace,
    secretKey,
    publishableKey,
    call,
    get: (path, options) => call('GET', path, options),
    post: (path, body = {}, options) => call('POST', path, { ...options, body }),
    patch: (path, body = {}, options) => call('PATCH', path, { ...options, body }),
    delete: (path, options) => call('DELETE', path, options),
  };
}
