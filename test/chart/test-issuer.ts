import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The discovery document of an OpenID Connect provider, over TLS with a certificate of its own. */
export type TestIssuer = {
  issuer: string;
  certificate: string;
  /** Where it listens. */
  place: { host: string; port: number };
  close(): Promise<void>;
};

/** @param issuer its URL, as clients reach it */
export async function startIssuer(issuer: string): Promise<TestIssuer> {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-issuer-'));
  const [keyFile, certificateFile] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')];
  const { hostname } = new URL(issuer);
  const subject = ['-subj', `/CN=${hostname}`, '-addext', `subjectAltName=DNS:${hostname}`];
  const made = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', keyFile, '-out', certificateFile];
  execFileSync('openssl', ['req', '-x509', ...made, ...subject], { stdio: 'pipe' });
  const certificate = readFileSync(certificateFile, 'utf8');
  const server = createServer({ key: readFileSync(keyFile), cert: certificate }, (_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    issuer,
    certificate,
    place: { host: '127.0.0.1', port },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true });
    },
  };
}
