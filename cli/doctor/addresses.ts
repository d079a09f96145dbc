import { lookup } from 'node:dns/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { createServer } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Config } from '../../core/settings/config.ts';
import { CLIENT_ADDRESS_HEADER } from '../../core/tracking/client-address-header.ts';
import { type Finding, findingsOf } from './finding.ts';

const TIMEOUT_MS = 5_000;
const DAY_MS = 86_400_000;
const LEAST_CERTIFICATE_DAYS = 14;
const LOOPBACK = /^(127\.|localhost$|\[?::1\]?$)/;

type Response = { status: number; headers: IncomingHttpHeaders; certificateEnds: Date | null };

/** Checks that the ports of a stopped service are free. */
export async function checkPorts(
  config: Pick<Config, 'host' | 'apiPort' | 'ingestPort' | 'metricsPort'>,
): Promise<Finding[]> {
  const { ok, error } = findingsOf('ports');
  const ports = {
    API_PORT: config.apiPort,
    INGEST_PORT: config.ingestPort,
    METRICS_PORT: config.metricsPort,
  };
  const found: Finding[] = [];
  for (const [setting, port] of Object.entries(ports)) {
    const code = await listenError(config.host, port);
    if (code === 'EADDRINUSE') {
      found.push(
        error(
          `${setting}=${port} is taken by another program`,
          `ss -ltnp 'sport = :${port}' names it; or set another ${setting}`,
        ),
      );
    } else if (code !== null) {
      found.push(
        error(
          `cannot listen on HOST=${config.host}, ${setting}=${port} (${code})`,
          'set HOST to an address of this machine, and ports from 1024 on',
        ),
      );
    }
  }
  return found.length > 0 ? found : [ok('all are free')];
}

function listenError(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}

/** Checks the names, certificates, and proxies in front of redirects and API, by requests from outside. */
export async function checkAddresses(config: Config, isRunning: boolean): Promise<Finding[]> {
  const origins = { SHORT_URL: config.shortUrl, BASE_URL: config.baseUrl };
  const found = await Promise.all(
    Object.entries(origins).map(([setting, origin]) => checkOrigin(setting, origin, { config, isRunning })),
  );
  return found.flat();
}

async function checkOrigin(
  setting: string,
  origin: string,
  { config, isRunning }: { config: Config; isRunning: boolean },
): Promise<Finding[]> {
  const { hostname, protocol } = new URL(origin);
  const names = findingsOf('dns');
  const isLocal = LOOPBACK.test(hostname);
  try {
    await lookup(hostname.replace(/^\[|\]$/g, ''));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return [
      names.error(
        `${setting}=${origin}: the name does not resolve (${code})`,
        `add an A or AAAA record of ${hostname} for this machine`,
      ),
    ];
  }
  const found: Finding[] = isLocal ? [] : [names.ok(`${hostname} resolves`)];
  const tls = findingsOf('tls');
  if (protocol === 'http:' && !isLocal) {
    found.push(
      tls.warning(
        `${setting}=${origin} is not encrypted`,
        `set up a proxy with TLS (docs/operations/one-machine.md), then ${setting}=https://${hostname}`,
      ),
    );
  }
  if (!isRunning && isLocal) return found;
  return [...found, ...(await checkResponse(setting, origin, config))];
}

async function checkResponse(setting: string, origin: string, config: Config): Promise<Finding[]> {
  const tls = findingsOf('tls');
  const proxy = findingsOf('proxy');
  let response: Response;
  try {
    response = await ask(`${origin}/health/live`);
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    if (/CERT|SIGNATURE|ALTNAME|SELF_SIGNED|ISSUER|SSL|TLS/.test(code)) {
      return [
        tls.error(
          `${setting}=${origin}: ${message} (${code})`,
          'renew the certificate of the proxy, such as with certbot renew',
        ),
      ];
    }
    return [
      proxy.error(
        `${setting}=${origin}/health/live does not respond: ${message}`,
        'start the service and the proxy, and let the name point to this machine',
      ),
    ];
  }
  const found: Finding[] = [];
  if (response.certificateEnds !== null) {
    const days = Math.floor((response.certificateEnds.getTime() - Date.now()) / DAY_MS);
    if (days < LEAST_CERTIFICATE_DAYS) {
      found.push(
        tls.warning(`${setting}=${origin}: the certificate expires in ${days} days`, 'certbot renew'),
      );
    } else found.push(tls.ok(`the certificate of ${origin} is valid for ${days} days`));
  }
  if (response.status !== 200) {
    found.push(
      proxy.error(
        `${setting}=${origin}/health/live returned status ${response.status}`,
        'let the proxy pass this path to Hoplog',
      ),
    );
  } else if (setting === 'SHORT_URL') found.push(...checkForwarded(response, origin, config));
  return found;
}

/** Checks that ingest reads the visitor's address from the proxy's header. */
function checkForwarded(
  { headers }: Response,
  origin: string,
  { trustProxy, ingestPort }: Config,
): Finding[] {
  const { ok, error } = findingsOf('proxy');
  const from = headers[CLIENT_ADDRESS_HEADER];
  if (from === 'forwarded') return [ok(`visitor addresses of ${origin} come from X-Forwarded-For`)];
  if (from === 'peer-untrusted') {
    return [
      error(
        `the proxy of ${origin} sends X-Forwarded-For, but TRUST_PROXY=${trustProxy.join(',')} does not have its address: every click gets the proxy's`,
        'set TRUST_PROXY to the address from which the proxy connects, such as TRUST_PROXY=127.0.0.1, and restart',
      ),
    ];
  }
  const { protocol, port } = new URL(origin);
  const isBehindProxy = protocol === 'https:' || Number(port || 80) !== ingestPort;
  if (!isBehindProxy) return [];
  return [
    error(
      `the proxy of ${origin} sends no X-Forwarded-For: every click gets its address`,
      'add to nginx: proxy_set_header X-Forwarded-For $remote_addr; (docs/operations/one-machine.md)',
    ),
  ];
}

/** Not `fetch`, which uses a proxy of the environment, and does not report on the certificate. */
function ask(url: string): Promise<Response> {
  const isSecure = url.startsWith('https:');
  return new Promise((resolve, reject) => {
    const send = isSecure ? secureRequest : request;
    const sent = send(url, { agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) }, (response) => {
      response.resume();
      const ends = isSecure ? (response.socket as TLSSocket).getPeerCertificate().valid_to : null;
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        certificateEnds: ends ? new Date(ends) : null,
      });
    });
    sent.on('error', (error) => {
      reject(error.name === 'AbortError' ? new Error(`no response within ${TIMEOUT_MS / 1_000} s`) : error);
    });
    sent.end();
  });
}
