import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request that an unauthorized user sends to a port of 127.0.0.1. */
export type Attempt = { method: string; path: string; headers: Record<string, string>; body: string };

/** The response; status 0 where there was no HTTP response. */
export type Outcome = { status: number; body: string };

const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;

/**
 * Returns every way to name a user of ClickHouse over HTTP without the password. Each `query` is `&`-separated
 * parameters.
 *
 * @param user the one user that has a password
 */
export function strangerWays(user: string): { query: string; headers: Record<string, string> }[] {
  return [
    { query: '', headers: {} },
    { query: 'user=default', headers: {} },
    { query: 'user=default&password=', headers: {} },
    { query: 'session_id=mine&session_timeout=3600', headers: {} },
    { query: 'max_sessions_for_user=0&profile=default', headers: {} },
    { query: `user=${user}&password=`, headers: {} },
    { query: `user=${user}&password=guessed`, headers: {} },
    { query: '', headers: { 'X-ClickHouse-User': 'default' } },
    { query: '', headers: { 'X-ClickHouse-User': 'default', 'X-ClickHouse-Key': '' } },
    { query: '', headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': 'guessed' } },
    { query: '', headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-SSL-Certificate-Auth': 'on' } },
    { query: '', headers: { 'X-ClickHouse-User': 'default', 'X-Forwarded-For': '0.0.0.0' } },
    { query: '', headers: { Authorization: basic('default:') } },
    { query: '', headers: { Authorization: basic(`${user}:`) } },
    { query: '', headers: { Authorization: basic(`${user}:guessed`) } },
    { query: '', headers: { Authorization: 'never' } },
    { query: '', headers: { Authorization: 'Bearer none' } },
  ];
}

/**
 * Returns queries that read a file, reach the network, start a program, write, or disturb the server.
 *
 * @param secret path of a file that only the server's own user may read
 * @param written path that the server's own user may write to
 */
export function strangerQueries(secret: string, written: string): string[] {
  return [
    'SELECT 1',
    'SELECT currentUser(), hostName()',
    `SELECT file('${secret}')`,
    `SELECT * FROM file('${secret}', 'LineAsString', 'line String')`,
    `DESCRIBE TABLE file('${secret}')`,
    `EXPLAIN SELECT file('${secret}')`,
    `WITH file('${secret}') AS text SELECT throwIf(1, text)`,
    `INSERT INTO FUNCTION file('${written}', 'LineAsString', 'line String') SELECT 'x'`,
    `SELECT 'x' INTO OUTFILE '${written}' FORMAT LineAsString`,
    "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString', 'line String')",
    "SELECT * FROM executable('id', 'LineAsString', 'line String')",
    "SELECT * FROM remote('127.0.0.1', system.one)",
    "SELECT * FROM postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
    `SELECT * FROM sqlite('${written}', 'a')`,
    'SELECT * FROM system.users',
    'SELECT * FROM system.processes',
    'SELECT count() FROM kept.rows',
    'SELECT * FROM mergeTreeIndex(kept, rows)',
    'INSERT INTO kept.rows VALUES (1)',
    'CREATE DATABASE mine ENGINE = Atomic',
    'CREATE TEMPORARY TABLE mine (a Int8)',
    'CREATE USER mine',
    `BACKUP DATABASE kept TO File('${written}')`,
    'KILL QUERY WHERE 1 SYNC',
    'SET max_sessions_for_user = 0',
    'SYSTEM START LISTEN TCP',
    'SYSTEM STOP LISTEN HTTP',
    'SYSTEM SHUTDOWN',
  ];
}

/**
 * Returns each query in each way, in the body and in the URL, and the pages that ClickHouse serves without a password.
 */
export function strangerAttempts(user: string, queries: string[]): Attempt[] {
  const asked = strangerWays(user).flatMap(({ query, headers }) =>
    queries.flatMap((sql): Attempt[] => [
      { method: 'POST', path: `/?${query}`, headers, body: sql },
      { method: 'GET', path: `/?${query}&query=${encodeURIComponent(sql)}`, headers, body: '' },
    ]),
  );
  const upgrade = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  };
  const pages = ['/', '/play', '/dashboard', '/binary', '/merges', '/jemalloc', '/webterminal', '/metrics'];
  return [
    ...asked,
    ...[...pages, '/replicas_status', '/ping'].map((path) => ({
      method: 'GET',
      path,
      headers: {},
      body: '',
    })),
    { method: 'GET', path: '/webterminal', headers: upgrade, body: '' },
  ];
}

/** Sends each attempt to the port, several in parallel; outcomes are in the order of the attempts. */
export async function tryAll(port: number, attempts: Attempt[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let at = 0; at < attempts.length; at += 16) {
    outcomes.push(...(await Promise.all(attempts.slice(at, at + 16).map((attempt) => send(port, attempt)))));
  }
  return outcomes;
}

function send(port: number, { method, path, headers, body }: Attempt): Promise<Outcome> {
  return new Promise((resolve) => {
    const failed = (error: Error) => resolve({ status: 0, body: error.message });
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      text(response).then((whole) => resolve({ status: response.statusCode ?? 0, body: whole }), failed);
    });
    sent.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, body: 'upgraded' });
    });
    sent.on('error', failed);
    sent.end(body);
  });
}

/** Returns the port's response to a hello of ClickHouse's native protocol. No port may respond with a hello. */
export function nativeHello(port: number): Promise<Buffer> {
  const field = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  const hello = Buffer.concat([
    Buffer.from([0]),
    field('client'),
    Buffer.from([24, 1, 0xa6, 0xa9, 3]),
    field('default'),
    field('default'),
    field(''),
  ]);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.end(hello));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => {});
    socket.on('close', () => resolve(Buffer.concat(chunks)));
  });
}
