import { Paper, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import type { ComponentProps, ReactNode } from 'react';
import { Fact, Facts } from './facts.tsx';
import { Figure } from './figure.tsx';

/** What is shown while data loads: in the layout of the data, so that nothing moves when it comes. */
export const Loading = ({ children }: { children: ReactNode }) => (
  <div role="status" aria-label="Loading">
    <div aria-hidden="true" inert>
      {children}
    </div>
  </div>
);

type CardsProps = Pick<ComponentProps<typeof SimpleGrid>, 'cols' | 'maw'> & {
  count?: number;
  /** Height of a card. Pixels. */
  height: number;
};

/** Cards while they load. */
export const CardsSkeleton = ({ count = 2, height, cols = 1, ...grid }: CardsProps) => (
  <Loading>
    <SimpleGrid cols={cols} {...grid}>
      {[...Array(count).keys()].map((card) => (
        <Paper key={card} withBorder p="md" h={height}>
          <Skeleton height="1lh" width="40%" mb="sm" />
          <Skeleton height="1lh" width="70%" />
        </Paper>
      ))}
    </SimpleGrid>
  </Loading>
);

/** Blocks below each other while they load. @param heights of each. Pixels */
export const BlocksSkeleton = ({ heights }: { heights: readonly number[] }) => (
  <Loading>
    <Stack gap="md">
      {heights.map((height, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the blocks are fixed
        <Skeleton key={index} height={height} />
      ))}
    </Stack>
  </Loading>
);

/** {@link Facts} while they load. */
export const FactsSkeleton = ({ count }: { count: number }) => (
  <Loading>
    <Facts>
      {[...Array(count).keys()].map((fact) => (
        <Fact key={fact} name={<Skeleton height="1lh" width="30%" />}>
          <Skeleton height="1lh" width="60%" />
        </Fact>
      ))}
    </Facts>
  </Loading>
);

type FiguresProps = Pick<ComponentProps<typeof SimpleGrid>, 'cols'> & { labels: readonly string[] };

/** {@link Figure}s with their changes while they load. */
export const FiguresSkeleton = ({ labels, cols }: FiguresProps) => (
  <Loading>
    <SimpleGrid cols={cols}>
      {labels.map((label) => (
        <Figure
          key={label}
          label={label}
          value={<Skeleton height="1lh" width="50%" />}
          note={<Skeleton height="1lh" width="30%" />}
        />
      ))}
    </SimpleGrid>
  </Loading>
);

/** Fields of a form while they load, each with its description. */
export const FieldsSkeleton = ({ count }: { count: number }) => (
  <Loading>
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      {[...Array(count).keys()].map((field) => (
        <div key={field}>
          <Text size="sm" component="div">
            <Skeleton height="1lh" width="30%" />
          </Text>
          <Text size="xs" component="div" mb={6}>
            <Skeleton height="1lh" width="60%" />
          </Text>
          <Skeleton height={36} />
        </div>
      ))}
    </SimpleGrid>
  </Loading>
);

/** A map of the world while it loads. */
export const MapSkeleton = () => (
  <div className="world" role="status" aria-label="Loading">
    <Skeleton height="auto" className="world-loading" />
  </div>
);

/** The facts of a record, above a list, while they load. @param facts number of them */
export const DetailSkeleton = ({ facts }: { facts: number }) => (
  <Stack gap="lg">
    <Paper withBorder p="md">
      <FactsSkeleton count={facts} />
    </Paper>
    <BlocksSkeleton heights={[28, 300]} />
  </Stack>
);
