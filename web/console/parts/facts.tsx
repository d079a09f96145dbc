import { Box, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A definition list of {@link Fact}. */
export const Facts = ({ children }: { children: ReactNode }) => (
  <SimpleGrid component="dl" cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="sm" my={0}>
    {children}
  </SimpleGrid>
);

/** A value with its name above it. */
export const Fact = ({ name, children }: { name: ReactNode; children: ReactNode }) => (
  <Box miw={0}>
    <Text component="dt" size="xs" c="dimmed">
      {name}
    </Text>
    <Box component="dd" fz="sm" m={0} style={{ overflowWrap: 'anywhere' }}>
      {children}
    </Box>
  </Box>
);
