import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

const USER_PRESENT = 1;
const USER_VERIFIED = 4;
const HAS_CREDENTIAL = 64;

/** Fields of a response that differ from those of an honest browser and authenticator. */
export type Dishonesty = { origin?: string; party?: string; unverified?: boolean; counter?: number };

/** A software authenticator with one passkey, and the browser around it: both respond to a ceremony's options. */
export type Authenticator = {
  id: string;
  create(options: { challenge: string }, dishonesty?: Dishonesty): object;
  sign(options: { challenge: string }, dishonesty?: Dishonesty): object;
};

/**
 * @param origin of the page, such as `http://localhost:3000`
 * @param party the host that the passkey belongs to
 */
export function authenticator(origin: string, party: string): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  let counter = 0;

  const clientData = (type: string, challenge: string, { origin: other = origin }: Dishonesty) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: other, crossOrigin: false }));
  const authData = (flags: number, given: Dishonesty, more = Buffer.alloc(0)) => {
    const head = Buffer.alloc(5);
    head.writeUInt8(flags | USER_PRESENT | (given.unverified ? 0 : USER_VERIFIED), 0);
    head.writeUInt32BE(given.counter ?? ++counter, 1);
    return Buffer.concat([sha256(given.party ?? party), head, more]);
  };
  const answer = (response: object) => {
    const name = id.toString('base64url');
    return { id: name, rawId: name, type: 'public-key', clientExtensionResults: {}, response };
  };

  return {
    id: id.toString('base64url'),
    create({ challenge }, given = {}) {
      // COSE (RFC 9053): kty EC2, alg ES256, crv P-256.
      const cose = new Map<number, number | Uint8Array<ArrayBuffer>>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
        [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
      ]);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const credential = Buffer.concat([Buffer.alloc(16), length, id, isoCBOR.encode(cose)]);
      const attestation = new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', new Uint8Array(authData(HAS_CREDENTIAL, given, credential))],
      ]);
      const encoded = isoCBOR.encode(attestation as Parameters<typeof isoCBOR.encode>[0]);
      return answer({
        clientDataJSON: clientData('webauthn.create', challenge, given).toString('base64url'),
        attestationObject: Buffer.from(encoded).toString('base64url'),
        transports: ['internal'],
      });
    },
    sign({ challenge }, given = {}) {
      const client = clientData('webauthn.get', challenge, given);
      const data = authData(0, given);
      const signature = createSign('sha256')
        .update(Buffer.concat([data, sha256(client)]))
        .sign(privateKey);
      return answer({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
      });
    },
  };
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}
