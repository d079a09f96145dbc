import { isEmail } from '../tracking/emails.ts';
import type { EnvironmentName } from './config.ts';
import { parseUrl } from './server-urls.ts';
import { ConfigError } from './settings-error.ts';

/** An address with the name that mail programs show; an empty name: none. */
export type MailAddress = { name: string; address: string };

/** The addresses of all mails. */
export type MailSettings = {
  from: MailAddress;
  /** Null: replies go to `from`. */
  replyTo: MailAddress | null;
};

/** How to reach the mail server of `SMTP_URL`. */
export type SmtpServer = {
  host: string;
  port: number;
  /** TLS from the start (`smtps`); otherwise by STARTTLS. */
  secure: boolean;
  /** STARTTLS: required with a password, which would be readable on its way; ignored by a server on this machine. */
  startTls: 'required' | 'used' | 'ignored';
  auth: { user: string; pass: string } | null;
};

type Given = Record<'SMTP_URL' | 'MAIL_FROM' | 'MAIL_REPLY_TO', string>;

const PORTS = { 'smtp:': 587, 'smtps:': 465 } as const;
const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

/** Returns the settings of mail, or null without a server. @throws {ConfigError} */
export function mailSettings(raw: Given): MailSettings | null {
  if (raw.SMTP_URL === '') return null;
  smtpServer(raw.SMTP_URL);
  if (raw.MAIL_FROM === '') throw new ConfigError('MAIL_FROM', '', 'must be set for SMTP_URL');
  return {
    from: address('MAIL_FROM', raw.MAIL_FROM),
    replyTo: raw.MAIL_REPLY_TO === '' ? null : address('MAIL_REPLY_TO', raw.MAIL_REPLY_TO),
  };
}

/** Parses `SMTP_URL`. @throws {ConfigError} */
export function smtpServer(text: string): SmtpServer {
  const url = parseUrl('SMTP_URL', text);
  const { protocol } = url;
  if (protocol !== 'smtp:' && protocol !== 'smtps:') {
    throw new ConfigError('SMTP_URL', text, 'must start with smtp:// or smtps://');
  }
  if (url.hostname === '' || !['', '/'].includes(url.pathname) || url.search || url.hash) {
    throw new ConfigError(
      'SMTP_URL',
      text,
      'must be smtp://user:password@host:port or smtps://…, without a path',
    );
  }
  if (url.password !== '' && url.username === '') {
    throw new ConfigError('SMTP_URL', text, 'must have a user for its password');
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const auth =
    url.username === '' ? null : { user: decoded(text, url.username), pass: decoded(text, url.password) };
  return {
    host,
    port: url.port === '' ? PORTS[protocol] : Number(url.port),
    secure: protocol === 'smtps:',
    // A server on this machine has no certificate for such a name.
    startTls: LOOPBACK.includes(host) ? 'ignored' : auth === null ? 'used' : 'required',
    auth,
  };
}

function decoded(url: string, part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new ConfigError('SMTP_URL', url, 'must have "%" in user and password written as %25');
  }
}

/** @param text `name@host.example`, or `Name <name@host.example>` */
function address(setting: EnvironmentName, text: string): MailAddress {
  const [, name = '', inner] = /^\s*"?([^"<>\r\n]*?)"?\s*<([^<>]*)>\s*$/.exec(text) ?? [];
  const found = (inner ?? text).trim();
  if (!isEmail(found)) {
    throw new ConfigError(
      setting,
      text,
      'must be an address such as "mail@shop.example" or "Shop <mail@shop.example>"',
    );
  }
  return { name: name.trim(), address: found };
}
