import { badRequest } from '../core/errors.ts';
import { isEmail, normalizeEmail } from '../core/tracking/emails.ts';

/** Returns an address as it identifies a person. @throws {AppError} `bad_request` that names `path` when it is malformed */
export function readEmail(text: string, path: string): string {
  const email = normalizeEmail(text);
  if (!isEmail(email)) throw badRequest(path, 'must be an email address');
  return email;
}
