import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { version } from '../program.ts';
import type { Login } from './login.ts';

/** Of JSON-RPC, for an error of the server. */
const INTERNAL_ERROR = -32_603;

/**
 * Passes the messages of the Model Context Protocol between standard input and output and `POST /mcp` of the service,
 * until the input ends. The tools, and what the key may do with them, are the service's.
 */
export async function relay({ url, key }: Login): Promise<void> {
  const here = new StdioServerTransport();
  const there = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}`, 'user-agent': `hoplog/${version}` } },
  });
  const pending = new Set<Promise<void>>();

  const pass = async (message: JSONRPCMessage): Promise<void> => {
    try {
      await there.send(message);
    } catch (error) {
      const text = reasonOf(error);
      process.stderr.write(`hoplog: ${text}\n`);
      if ('method' in message && 'id' in message) {
        const failure = { code: INTERNAL_ERROR, message: text };
        await here.send({ jsonrpc: '2.0', id: message.id, error: failure });
      }
    }
  };
  here.onmessage = (message) => {
    const passed = pass(message).finally(() => pending.delete(passed));
    pending.add(passed);
  };
  there.onmessage = (message) => {
    if ('result' in message && typeof message.result.protocolVersion === 'string') {
      there.setProtocolVersion(message.result.protocolVersion);
    }
    void here.send(message);
  };
  const ended = new Promise((resolve) => process.stdin.once('end', resolve));
  await there.start();
  await here.start();
  await ended;
  await Promise.allSettled(pending);
  await here.close();
  await there.close();
}

/** Returns the API's own message of a refused call. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [, said] = /"message":"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  if (said !== undefined) return said;
  const { cause } = error as { cause?: unknown };
  return cause instanceof Error ? `${text}: ${cause.message}` : text;
}
