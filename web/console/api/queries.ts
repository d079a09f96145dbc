import { notifications } from '@mantine/notifications';
import {
  keepPreviousData,
  queryOptions,
  type UseMutationOptions,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { type CallOptions, callApi, type Query } from './call.ts';
import { useIdempotencyKeys } from './idempotency-key.ts';
import { useOnePress } from './one-press.ts';
import { sentenceOf } from './sentence.ts';

/** A read of the API: the path below `/api/v1` with its query. */
export type Question = { path: string; query: Query };

/** A read as TanStack Query keeps it: what {@link useApi} finds when it was asked before. */
export const questionOptions = <T>({ path, query }: Question) =>
  queryOptions<T>({
    queryKey: [path, query],
    queryFn: ({ signal }) => callApi<T>(path, { query, signal }),
  });

/**
 * Reads from the API and keeps the answer while the page is open. The last answer stays shown while the next one is
 * fetched (another window, another page).
 *
 * @param path below `/api/v1`; null: not asked yet
 * @param every milliseconds between refreshes; none unless given, or where it gives false for the last answer
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
 * A mutation that is under way once at a time; see {@link useOnePress}. Its promise is that of the first press.
 *
 * @param contentOf what is sent: after it worked, something else may follow at once
 * @param hold as {@link useOnePress} takes it
 */
export function useOneMutation<Sent, Got>(
  options: UseMutationOptions<Got, unknown, Sent>,
  contentOf: (sent: Sent) => string = (sent) => JSON.stringify(sent) ?? '',
  hold?: number,
): UseMutationResult<Got, unknown, Sent> {
  const mutation = useMutation<Got, unknown, Sent>(options);
  const mutateAsync = useOnePress(mutation.mutateAsync, (...[sent]) => contentOf(sent as Sent), hold);
  return {
    ...mutation,
    mutateAsync,
    mutate: (...args) => {
      // Whoever wants to know of a failure finds it in the mutation.
      mutateAsync(...args).catch(() => undefined);
    },
  };
}

/** A call that changes something. */
export type Change = Pick<CallOptions, 'method' | 'query' | 'body'> & {
  /** Below `/api/v1`. */
  path: string;
  /** It makes something: sent again with the same content after an answer that got lost, it makes nothing twice. */
  once?: boolean;
};

/** How a change is sent and what follows. */
export type SendOptions<Sent, Got> = {
  /** What is read anew afterwards: paths below `/api/v1` that `useApi` was given, or their beginnings. */
  refresh?: string[];
  /** Told to the person when it worked. */
  done?: string | ((got: Got, sent: Sent) => string);
  /** Told as a notification unless the form shows the failure itself (`false`). */
  tellFailure?: boolean;
};

/**
 * Sends a change, once however often its button is pressed. What it makes stale is read anew before it counts as done.
 *
 * @param call what to send for the given input; `POST` unless it names another method
 */
export function useSend<Sent, Got = unknown>(
  call: (sent: Sent) => Change,
  { refresh = [], done, tellFailure = true }: SendOptions<Sent, Got> = {},
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
        await queries.invalidateQueries({
          predicate: ({ queryKey: [path] }) =>
            typeof path === 'string' && refresh.some((begin) => path.startsWith(begin)),
        });
        const text = typeof done === 'function' ? done(got, sent) : done;
        if (text) notifications.show({ message: text, color: 'hop' });
      },
      onError: (error) => {
        if (tellFailure) notifications.show({ message: sentenceOf(error), color: 'red' });
      },
    },
    contentOf,
  );
}
