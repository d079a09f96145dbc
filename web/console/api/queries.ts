import { notifications } from '@mantine/notifications';
import {
  keepPreviousData,
  type QueryClient,
  queryOptions,
  type UseMutationOptions,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useLayoutEffect, useRef } from 'react';
import { showUndo } from '../parts/undo-notice.tsx';
import { type CallOptions, callApi, type Query } from './call.ts';
import { useIdempotencyKeys } from './idempotency-key.ts';
import { useOnePress } from './one-press.ts';
import { sentenceOf } from './sentence.ts';

/** A read: path below `/api/v1`, and query. */
export type Question = { path: string; query: Query };

/** A read as a TanStack query, shared with {@link useApi}. */
export const questionOptions = <T>({ path, query }: Question) =>
  queryOptions<T>({
    queryKey: [path, query],
    queryFn: ({ signal }) => callApi<T>(path, { query, signal }),
  });

/**
 * Reads from the API and caches the response while the page is open. The previous response stays while the next one
 * loads (another period, another page).
 *
 * @param path below `/api/v1`; null: disabled
 * @param every milliseconds between refreshes; false for the last response: no refresh
 */
export function useApi<T>(
  path: string | null,
  query: Query = {},
  { every }: { every?: number | ((last: T | undefined) => number | false) } = {},
): UseQueryResult<T> {
  return useQuery<T>({
    ...questionOptions<T>({ path: path ?? '', query }),
    enabled: path !== null,
    placeholderData: keepPreviousData,
    ...(every !== undefined && {
      refetchInterval: typeof every === 'number' ? every : ({ state }) => every(state.data),
    }),
  });
}

/**
 * A mutation that calls the function of the last render. TanStack applies new options in an effect, which may run after
 * the press that follows the last typed character: a sign-in then sent the password without that character.
 */
export function useLatestMutation<Sent, Got>(
  options: UseMutationOptions<Got, unknown, Sent>,
): UseMutationResult<Got, unknown, Sent> {
  const latest = useRef(options);
  useLayoutEffect(() => {
    latest.current = options;
  });
  return useMutation<Got, unknown, Sent>({
    ...options,
    mutationFn: (sent, context) => {
      const run = latest.current.mutationFn;
      if (!run) throw new Error('the mutation has no `mutationFn`');
      return run(sent, context);
    },
  });
}

/**
 * A mutation that runs once at a time; see {@link useOnePress}. Its promise is that of the first press.
 *
 * @param contentOf identifies what is sent: after a success, other content may follow at once
 * @param hold see {@link useOnePress}
 */
export function useOneMutation<Sent, Got>(
  options: UseMutationOptions<Got, unknown, Sent>,
  contentOf: (sent: Sent) => string = (sent) => JSON.stringify(sent) ?? '',
  hold?: number,
): UseMutationResult<Got, unknown, Sent> {
  const mutation = useLatestMutation(options);
  const mutateAsync = useOnePress(mutation.mutateAsync, (...[sent]) => contentOf(sent as Sent), hold);
  return {
    ...mutation,
    mutateAsync,
    mutate: (...args) => {
      // The mutation holds the failure.
      mutateAsync(...args).catch(() => undefined);
    },
  };
}

/**
 * Calls `then` after a change succeeded, even when the component that sent it is gone: archived links leave the list
 * with their bar, and TanStack then drops the callbacks of `mutate`. The mutation itself reports a failure.
 */
export function afterSuccess<Got>(sending: Promise<Got>, then: (got: Got) => void): void {
  sending.then(then, () => undefined);
}

/** A changing request. */
export type Change = Pick<CallOptions, 'method' | 'query' | 'body'> & {
  /** Below `/api/v1`. */
  path: string;
  /** Creates something: a retry with the same content after a lost response creates it once. */
  once?: boolean;
};

/** Options of a change. */
export type SendOptions<Sent, Got> = {
  /** Reads to refresh afterwards: path prefixes below `/api/v1`. */
  refresh?: string[];
  /** Notification after a success. */
  done?: string | ((got: Got, sent: Sent) => string);
  /** The changes that undo it, in order, offered by the notification; null: this one can't be undone. */
  undo?: (got: Got, sent: Sent) => Change | Change[] | null;
  /** Shows a failure as a notification; `false` where the form shows it. */
  tellFailure?: boolean;
};

/** Reads that any change may concern, refreshed without waiting for them. */
const STATE_READS = ['/problems', '/first-steps'];

/** Refreshes the reads whose path begins with one of these texts. */
export function refreshReads(queries: QueryClient, begins: readonly string[]): Promise<void> {
  return queries.invalidateQueries({
    predicate: ({ queryKey: [path] }) =>
      typeof path === 'string' && begins.some((begin) => path.startsWith(begin)),
  });
}

/**
 * Sends a change, once per press and double click. Stale reads are refreshed before it counts as done.
 *
 * @param call the request for an input; `POST` by default
 */
export function useSend<Sent, Got = unknown>(
  call: (sent: Sent) => Change,
  { refresh = [], done, undo, tellFailure = true }: SendOptions<Sent, Got> = {},
): UseMutationResult<Got, unknown, Sent> {
  const queries = useQueryClient();
  const keys = useIdempotencyKeys();
  const contentOf = (sent: Sent) => JSON.stringify(call(sent));
  return useOneMutation<Sent, Got>(
    {
      mutationFn: async (sent) => {
        const { path, once, ...options } = call(sent);
        const got = await callApi<Got>(path, {
          method: 'POST',
          ...options,
          ...(once && { headers: { 'idempotency-key': keys.keyOf(contentOf(sent)) } }),
        });
        keys.forget();
        return got;
      },
      onSuccess: async (got, sent) => {
        await refreshReads(queries, refresh);
        void refreshReads(queries, STATE_READS);
        const text = typeof done === 'function' ? done(got, sent) : done;
        if (!text) return;
        const back = undo?.(got, sent);
        if (!back) notifications.show({ message: text, color: 'hop' });
        else {
          showUndo(text, async () => {
            for (const { path, once: _, ...options } of [back].flat()) {
              await callApi(path, { method: 'POST', ...options });
            }
            await refreshReads(queries, refresh);
            void refreshReads(queries, STATE_READS);
          });
        }
      },
      onError: (error) => {
        if (tellFailure) notifications.show({ message: sentenceOf(error), color: 'red' });
      },
    },
    contentOf,
  );
}
