import { hashSessionToken, newSessionToken } from '../../core/access/session-tokens.ts';
import { AppError } from '../../core/errors.ts';
import { storeWritePreview, takeWritePreview } from '../../sql/workspaces/write-previews.ts';
import type { ApiDeps, Auth } from '../dependencies.ts';
import { ApiRefusal, type CallApi } from './calls.ts';
import type { Preview, Write, WriteTool } from './tool.ts';

/** A preview as it is stored, with the arguments that it was made from. */
type Stored = { write: Write; args: unknown };

const NOT_VALID =
  'this `confirm_token` is not valid: it is good for five minutes, once, for the same tool and key; call the tool without it for a new preview';

/** The two steps of tools that write. */
export type Confirmations = {
  /** Returns the token that confirms a preview. */
  offer(tool: WriteTool, preview: Preview, args: unknown): Promise<string>;
  /** Does what was previewed. Returns the API's response. @throws {AppError | ApiRefusal} */
  confirm(tool: WriteTool, token: string, args: Record<string, unknown>, api: CallApi): Promise<unknown>;
};

/** Returns the confirmations of a key. A preview is taken before its write is done, so that it is done once. */
export function confirmationsOf({ pool }: Pick<ApiDeps, 'pool'>, { workspace, key }: Auth): Confirmations {
  const of = (tool: WriteTool, tokenHash: Buffer) => ({
    workspaceId: workspace.id,
    keyId: key.id,
    tool: tool.name,
    tokenHash,
  });
  return {
    async offer(tool, { write }, args) {
      const { token, hash } = newSessionToken();
      await storeWritePreview(pool, of(tool, hash), { write, args } satisfies Stored);
      return token;
    },
    async confirm(tool, token, args, api) {
      const hash = hashSessionToken(token);
      const taken = hash && ((await takeWritePreview(pool, of(tool, hash))) as Stored | null);
      if (!taken) throw new AppError('conflict', NOT_VALID);
      if (Object.keys(args).length > 0 && !isSame(args, taken.args)) {
        throw new AppError(
          'conflict',
          'the arguments differ from those of the preview; call the tool without `confirm_token`',
        );
      }
      const { method, path, body, unchangedSince } = taken.write;
      if (unchangedSince !== undefined) await requireUnchanged(api, path, unchangedSince);
      return api(method, path, body === undefined ? {} : { body });
    },
  };
}

/** Compares JSON regardless of the order of fields. */
function isSame(a: unknown, b: unknown): boolean {
  const sorted = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .toSorted(([one], [other]) => (one < other ? -1 : 1))
            .map(([name, field]) => [name, sorted(field)]),
        )
      : Array.isArray(value)
        ? value.map(sorted)
        : value;
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

async function requireUnchanged(api: CallApi, path: string, since: string): Promise<void> {
  const { updated_at: now } = await api<{ updated_at: string }>('GET', path);
  if (now === since) return;
  throw new ApiRefusal(409, {
    code: 'conflict',
    message: 'it has changed since the preview; ask for a new one',
  });
}
