import { Box, Paper, Skeleton, Stack, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FailureNotice } from './failure-notice.tsx';

type Props<T> = {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
  /** Empty state: when, and what to show. */
  empty?: { when: (data: T) => boolean; show: ReactNode };
  /** Shown while the first response loads, in the layout of the data; else lines. */
  skeleton?: ReactNode;
  /** Lines that are shown without a `skeleton`. */
  lines?: number;
};

/**
 * Renders a query's states: loading, failed, empty, ready. A previous response that stays while the next one loads is
 * dimmed and marked, because it does not match the new filters.
 */
export function QueryView<T>({ query, children, empty, skeleton, lines = 4 }: Props<T>) {
  if (query.data !== undefined) {
    const isEmpty = empty?.when(query.data) === true;
    if (isEmpty && !query.isPlaceholderData && !query.isError) return empty.show;
    return (
      <Box className="answer" aria-busy={query.isFetching} mod={{ former: query.isPlaceholderData }}>
        {query.isPlaceholderData && <LoadingNote />}
        {query.isError && <FailureNotice error={query.error} again={() => void query.refetch()} />}
        {isEmpty ? empty.show : children(query.data)}
      </Box>
    );
  }
  if (query.isError) return <FailureNotice error={query.error} again={() => void query.refetch()} />;
  if (skeleton) return skeleton;
  return (
    <Stack gap="sm" role="status" aria-label="Loading">
      {[...Array(lines).keys()].map((line) => (
        <Skeleton key={line} height={28} />
      ))}
    </Stack>
  );
}

const LoadingNote = () => (
  <div className="answer-loading">
    <Paper withBorder shadow="sm" px="sm" py={4} role="status">
      <Text size="sm">Loading…</Text>
    </Paper>
  </div>
);
