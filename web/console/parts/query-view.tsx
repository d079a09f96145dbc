import { Skeleton, Stack } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FailureNotice } from './failure-notice.tsx';

type Props<T> = {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
  /** Shown instead of the data when this says it is empty. */
  empty?: { when: (data: T) => boolean; show: ReactNode };
  /** Lines of the placeholder while the first answer is awaited. */
  lines?: number;
};

/** An answer of the API in each of its states: awaited, failed, empty, there. */
export function QueryView<T>({ query, children, empty, lines = 4 }: Props<T>) {
  if (query.data !== undefined) {
    if (empty?.when(query.data)) return empty.show;
    return (
      <div aria-busy={query.isFetching}>
        {query.isError && <FailureNotice error={query.error} again={() => void query.refetch()} />}
        {children(query.data)}
      </div>
    );
  }
  if (query.isError) return <FailureNotice error={query.error} again={() => void query.refetch()} />;
  return (
    <Stack gap="sm" role="status" aria-label="Loading">
      {[...Array(lines).keys()].map((line) => (
        <Skeleton key={line} height={28} />
      ))}
    </Stack>
  );
}
