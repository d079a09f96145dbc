import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Encrypts secrets that the service must read again, such as a provider's key. */
export type SecretSealer = {
  /** @param owner id of the row: a secret that is copied to another row does not open */
  seal(secret: string, owner: string): Buffer;
  /** @throws Error when the secret was sealed for another owner or under another key */
  open(sealed: Buffer, owner: string): string;
};

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Creates a sealer with AES-256-GCM. A sealed secret is nonce, tag and ciphertext.
 *
 * @param key a secret of the deployment, 32 bytes
 * @param purpose separates the keys of different tables
 */
export function createSecretSealer(key: Uint8Array, purpose: string): SecretSealer {
  const derived = Buffer.from(hkdfSync('sha256', key, '', `hoplog sealed ${purpose} v1`, 32));
  return {
    seal(secret, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', derived, nonce).setAAD(Buffer.from(owner));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]);
    },
    open(sealed, owner) {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      const cipher = createDecipheriv('aes-256-gcm', derived, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(owner))
        .setAuthTag(tag);
      const text = Buffer.concat([cipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), cipher.final()]);
      return text.toString('utf8');
    },
  };
}
