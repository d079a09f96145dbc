import { createTransport } from 'nodemailer';
import type { Credentials } from '../../core/settings/credentials.ts';
import { smtpServer } from '../../core/settings/mail.ts';
import type { Message } from './compose.ts';
import { isLoginRefused } from './outcome.ts';

/** Hands a mail to the mail server. @throws Error of the client, or the signal's reason */
export type SendMail = (message: Message, signal: AbortSignal) => Promise<void>;

/** Longest wait for a connection, for the greeting, and for each response. Milliseconds. */
export const SMTP_WAITS = { connection: 10_000, greeting: 10_000, response: 30_000 };

/**
 * Creates the client of the mail server. Each mail has a connection of its own, so that none waits for another. A password that the
 * server refuses is read again from its file.
 *
 * @param server the address of `SMTP_URL`
 * @param options for tests: shorter waits, and the certificate authority to trust
 */
export function createMailSender(
  server: Credentials,
  { waits = SMTP_WAITS, ca }: { waits?: typeof SMTP_WAITS; ca?: string } = {},
): SendMail {
  async function sendOnce(url: string, message: Message, signal: AbortSignal): Promise<void> {
    const { host, port, secure, startTls, auth } = smtpServer(url);
    const transport = createTransport({
      host,
      port,
      secure,
      requireTLS: startTls === 'required',
      ignoreTLS: startTls === 'ignored',
      ...(ca !== undefined && { tls: { ca } }),
      ...(auth && { auth }),
      connectionTimeout: waits.connection,
      greetingTimeout: waits.greeting,
      socketTimeout: waits.response,
      dnsTimeout: waits.connection,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    await transport.sendMail({ ...message, signal });
  }

  return async (message, signal) => {
    const url = server.url();
    try {
      await sendOnce(url, message, signal);
    } catch (error) {
      if (!isLoginRefused(error) || !server.renew(url)) throw error;
      await sendOnce(server.url(), message, signal);
    }
  };
}
