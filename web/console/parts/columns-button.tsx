import { Button, Checkbox, Popover, Stack } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import type { ChoiceColumn, ColumnChoice } from './column-choice.ts';

/** Chooses the columns of the table. */
export function ColumnsButton<Column extends ChoiceColumn>({ columns }: { columns: ColumnChoice<Column> }) {
  const { offered, isShown, show, reset } = columns;
  return (
    <Popover position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button variant="default" size="xs" leftSection={<IconColumns3 size={16} />} visibleFrom="md">
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <fieldset className="choices" aria-label="Columns of the table">
          <Stack gap="xs">
            {offered.map((column) => (
              <Checkbox
                key={column.key}
                label={column.name}
                checked={isShown(column)}
                onChange={(event) => show(column.key, event.currentTarget.checked)}
              />
            ))}
            <Button variant="subtle" size="compact-xs" onClick={reset}>
              Reset
            </Button>
          </Stack>
        </fieldset>
      </Popover.Dropdown>
    </Popover>
  );
}
