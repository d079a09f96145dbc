import { connect } from 'node:net';

/** A keep-alive connection with at most one request in flight, as of a browser. */
export type Connection = {
  send(request: string): void;
  close(): void;
};

export type Answer = {
  status: number;
  /** The response, at least to the end of the headers. Valid only during the callback. */
  bytes: Buffer;
  length: number;
};

const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = Buffer.from('ontent-Length: ');
const BUFFER_BYTES = 16 * 1024;

/**
 * Opens a connection to a server on this machine. Minimal work per response, so that the generator is faster than the
 * server.
 *
 * @param onAnswer called with each complete response; then the next request may be sent
 * @param onEnd called when the server closes the connection, or with the error
 */
export function openConnection(
  port: number,
  onAnswer: (answer: Answer) => void,
  onEnd: (error: Error | null) => void,
): Promise<Connection> {
  const bytes = Buffer.allocUnsafe(BUFFER_BYTES);
  let filled = 0;
  return new Promise((resolve, reject) => {
    const socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafe(BUFFER_BYTES),
        callback(count, chunk) {
          bytes.set(chunk.subarray(0, count), filled);
          filled += count;
          if (!isWhole(bytes, filled)) return true;
          const length = filled;
          filled = 0;
          onAnswer({ status: statusOf(bytes), bytes, length });
          return true;
        },
      },
    });
    socket.once('connect', () => {
      socket.removeListener('error', reject);
      socket.once('error', onEnd);
      socket.once('end', () => onEnd(null));
      resolve({
        send: (request) => socket.write(request, 'latin1'),
        close: () => socket.destroy(),
      });
    });
    socket.once('error', reject);
  });
}

function statusOf(bytes: Buffer): number {
  // `HTTP/1.1 302 `
  return ((bytes[9] ?? 0) - 48) * 100 + ((bytes[10] ?? 0) - 48) * 10 + ((bytes[11] ?? 0) - 48);
}

function isWhole(bytes: Buffer, filled: number): boolean {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0 || end >= filled) return false;
  const at = bytes.indexOf(LENGTH);
  if (at < 0 || at > end) return true;
  let body = 0;
  for (let i = at + LENGTH.length; ; i++) {
    const digit = (bytes[i] ?? 0) - 48;
    if (digit < 0 || digit > 9) break;
    body = body * 10 + digit;
  }
  return filled >= end + HEAD_END.length + body;
}
