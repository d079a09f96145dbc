import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { descendantsOf } from './descendants.ts';

/**
 * A socket that accepts connections. `address` is `127.0.0.1:8080`, Linux's own hexadecimal form for IPv6, or a path.
 */
export type ListeningSocket = { pid: number; address: string };

/** Returns every socket on which the process or one of its descendants listens, from Linux's `/proc`. */
export function listeningSockets(root: number): ListeningSocket[] {
  const listening = new Map([...internet('tcp'), ...internet('tcp6'), ...unix()]);
  return [root, ...descendantsOf(root)].flatMap((pid) =>
    inodes(pid).flatMap((inode) => {
      const address = listening.get(inode);
      return address === undefined ? [] : [{ pid, address }];
    }),
  );
}

function inodes(pid: number): string[] {
  const directory = `/proc/${pid}/fd`;
  return openFiles(directory).flatMap((name) => {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`${directory}/${name}`))?.[1];
      return inode === undefined ? [] : [inode];
    } catch {
      return []; // closed meanwhile
    }
  });
}

/** Returns none when the process has ended meanwhile, as processes of PostgreSQL's connections do. */
function openFiles(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

const LISTEN = '0A';

function internet(protocol: 'tcp' | 'tcp6'): [string, string][] {
  return fieldsOf(protocol).flatMap(([, local = '', , state, ...rest]): [string, string][] => {
    const [host = '', port = ''] = local.split(':');
    const number = Number.parseInt(port, 16);
    // An IPv4 address is a number in this machine's byte order.
    const octets = Buffer.from(host, 'hex').reverse().join('.');
    return state === LISTEN
      ? [[rest[5] ?? '', `${protocol === 'tcp' ? octets : `[${host}]`}:${number}`]]
      : [];
  });
}

/** Flag of a socket that accepts connections (`__SO_ACCEPTCON`). */
const ACCEPTS = '00010000';

function unix(): [string, string][] {
  return fieldsOf('unix').flatMap(([, , , flags, , , inode = '', path = '(no path)']): [string, string][] =>
    flags === ACCEPTS ? [[inode, path]] : [],
  );
}

function fieldsOf(name: string): string[][] {
  const lines = readFileSync(`/proc/net/${name}`, 'utf8').trim().split('\n').slice(1);
  return lines.map((line) => line.trim().split(/\s+/));
}
