import { Radio, SimpleGrid, Text } from '@mantine/core';
import { GRADIENTS, gradientOf } from './theme-choices.ts';

/** Chooses a gradient, each painted. */
export function GradientChoice({ value, onChange }: { value: string; onChange: (name: string) => void }) {
  return (
    <Radio.Group label="Gradient" value={value} onChange={onChange}>
      <SimpleGrid cols={{ base: 2, xs: 3, lg: 4 }} spacing="xs" mt={4}>
        {GRADIENTS.map(({ name, ...gradient }) => (
          <Radio.Card key={name} value={name} p={6} aria-label={name}>
            <div className="gradient-swatch" style={{ background: gradientOf(gradient) }} />
            <Text size="sm" mt={4} tt="capitalize" fw={name === value ? 700 : 400}>
              <span aria-hidden="true">{name === value ? '✓ ' : ''}</span>
              {name}
            </Text>
          </Radio.Card>
        ))}
      </SimpleGrid>
    </Radio.Group>
  );
}
