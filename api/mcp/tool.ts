import type { Static, TObject } from 'typebox';
import type { CallApi } from './calls.ts';

/** Most rows of a result. */
export const MOST_ROWS = 50;

/** A route of the API that a tool calls: `GET /links`. */
export type Route = `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`;

/** The result of a tool. */
export type Result = {
  /** A sentence about it, in words of this service alone. */
  summary: string;
  /** Everything that users or visitors may have written. The reader gets it fenced, as data. Null: nothing. */
  untrusted: unknown;
};

type Described = {
  name: string;
  title: string;
  description: string;
  /** The tool is listed for keys that may call all of these; with `anyOf` one of them is enough. */
  needs: readonly Route[];
  anyOf?: true;
};

export type ReadTool = Described & {
  kind: 'read';
  input: TObject;
  run: (api: CallApi, args: never) => Promise<Result>;
};

/** A write as it is stored until its confirmation: the call that does it, and what must not have changed since. */
export type Write = {
  method: 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  /** The record at `path` must still have this `updated_at`. */
  unchangedSince?: string;
};

/** A write before its confirmation. */
export type Preview = {
  /** What the write changes, in words. They have no text of others. */
  preview: string;
  /** What it changes, as it is now. */
  untrusted: unknown;
  write: Write;
};

export type WriteTool = Described & {
  kind: 'write';
  input: TObject;
  preview: (api: CallApi, args: never) => Promise<Preview>;
  /** Says that the write is done. */
  done: string;
};

export type Tool = ReadTool | WriteTool;

/** Defines a tool that reads. */
export const readTool = <Input extends TObject>(
  tool: Omit<ReadTool, 'kind' | 'input' | 'run'> & {
    input: Input;
    run: (api: CallApi, args: Static<Input>) => Promise<Result>;
  },
): ReadTool => ({ ...tool, kind: 'read' });

/** Defines a tool that writes, in two steps. */
export const writeTool = <Input extends TObject>(
  tool: Omit<WriteTool, 'kind' | 'input' | 'preview'> & {
    input: Input;
    preview: (api: CallApi, args: Static<Input>) => Promise<Preview>;
  },
): WriteTool => ({ ...tool, kind: 'write' });

/** Leaves out empty fields of a record, which most fields of most links are. */
export function filled(record: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).filter(
      ([, value]) =>
        value !== null &&
        value !== '' &&
        value !== undefined &&
        !(Array.isArray(value) && value.length === 0),
    ),
  );
}

/** Says how many rows there are, and how to get others. */
export function rowsSentence(count: number, what: string, more: string | null): string {
  const rows = `${count} ${what}${count === 1 ? '' : 's'}.`;
  return more === null ? rows : `${rows} There are more: ${more}.`;
}
