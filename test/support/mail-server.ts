import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { until } from './until.ts';

/** A mail as the server accepted it. */
export type AcceptedMail = ParsedMail & { envelopeTo: string[]; wasEncrypted: boolean; raw: string };

/** How the server treats the mails that arrive. `hang`: it never responds to the mail's content. */
export type MailBehavior = 'work' | 'refuse_recipient' | 'defer' | 'refuse_sender' | 'hang';

export type MailServer = {
  url: string;
  mails: AcceptedMail[];
  /** Mails whose content has arrived, accepted or not. */
  seen: number;
  behave(behavior: MailBehavior): void;
  /** Waits until a mail to this address, with this subject, was accepted, and returns the newest. */
  untilMailTo(address: string, subject?: string): Promise<AcceptedMail>;
  close(): Promise<void>;
};

const fault = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode });

/** Starts a real mail server on this machine. @param options of the server; by default neither TLS nor sign-in */
export async function startMailServer({
  host = '127.0.0.1',
  port = 0,
  user = '',
  ...options
}: SMTPServerOptions & { host?: string; port?: number; user?: string } = {}): Promise<MailServer> {
  const mails: AcceptedMail[] = [];
  let behavior: MailBehavior = 'work';
  const server = new SMTPServer({
    authOptional: true,
    ...(options.key === undefined && { disabledCommands: ['STARTTLS'] }),
    ...options,
    onMailFrom(_, __, done) {
      done(behavior === 'refuse_sender' ? fault(550, 'sender is not allowed') : null);
    },
    onRcptTo({ address }, _, done) {
      if (behavior === 'refuse_recipient') done(fault(550, `<${address}>: no such user`));
      else done(behavior === 'defer' ? fault(451, 'greylisted; try again later') : null);
    },
    onData(stream, { envelope, secure }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        result.seen += 1;
        if (behavior === 'hang') return;
        const raw = Buffer.concat(chunks);
        const envelopeTo = envelope.rcptTo.map(({ address }) => address);
        const parsed = await simpleParser(raw);
        mails.push({ ...parsed, envelopeTo, wasEncrypted: secure, raw: raw.toString('latin1') });
        done(null);
      });
    },
  });
  server.on('error', () => undefined); // clients that end early
  server.listen(port, host);
  await once(server.server, 'listening');
  const scheme = options.secure ? 'smtps' : 'smtp';
  const result: MailServer = {
    url: `${scheme}://${user}${host}:${(server.server.address() as AddressInfo).port}`,
    mails,
    seen: 0,
    behave(next) {
      behavior = next;
    },
    untilMailTo: (address, subject) =>
      until(
        `a mail to ${address}`,
        () =>
          mails.findLast(
            (mail) =>
              mail.envelopeTo.includes(address) && (subject === undefined || mail.subject === subject),
          ),
        (mail): mail is AcceptedMail => mail !== undefined,
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const { _socket } of server.connections) _socket.destroy();
      }),
  };
  return result;
}

/** Returns a key and a certificate for a network address of this machine, signed by itself. */
export function certificateFor(address: string): { key: string; cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-mail-'));
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
      .concat(['-subj', '/CN=mail', '-addext', `subjectAltName=IP:${address}`])
      .concat(['-keyout', key, '-out', cert]),
    { stdio: 'pipe' },
  );
  const read = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(directory, { recursive: true });
  return read;
}

/** Returns the one web address in a mail's text that has this path. */
export function linkIn({ text = '' }: Pick<ParsedMail, 'text'>, path: string): string {
  const found = [...text.matchAll(/https?:\/\/\S+/g)].map(([url]) => url).filter((url) => url.includes(path));
  if (found.length !== 1 || !found[0])
    throw new Error(`the mail has ${found.length} links to ${path}: ${text}`);
  return found[0];
}
