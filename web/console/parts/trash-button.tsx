import { ActionIcon } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';

/** Deletes a small record of a list at once; the notice offers to undo it. @param what such as `the view Weekly` */
export function TrashButton({
  what,
  remove,
}: {
  what: string;
  remove: { isPending: boolean; mutate(): void };
}) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={`Delete ${what}`}
      title="Delete"
      loading={remove.isPending}
      onClick={() => remove.mutate()}
    >
      <IconTrash size={16} stroke={1.6} />
    </ActionIcon>
  );
}
