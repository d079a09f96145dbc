import { Button, Group, Text } from '@mantine/core';
import { useSession } from '../api/session.ts';
import { useSampleShop } from './sample-shop.ts';

/** Marks each page of the sample shop, and leads out of it. */
export default function SampleBar() {
  const { workspace, other_workspaces: others } = useSession();
  const { back, remove, isLeaving, isRemoving } = useSampleShop();
  const own = others.find(({ id }) => id === workspace.sample_of);
  return (
    <Group component="aside" aria-label="Sample data" className="sample-bar" justify="space-between" gap="sm">
      <Text size="sm">
        <b>Sample data.</b> Nothing here is real, and nothing can be changed.
      </Text>
      <Group gap="xs">
        {own && (
          <Button size="compact-sm" variant="default" loading={isLeaving} onClick={() => back(own.member_id)}>
            Back to {own.name}
          </Button>
        )}
        <Button size="compact-sm" variant="default" loading={isRemoving} onClick={remove}>
          Remove sample data
        </Button>
      </Group>
    </Group>
  );
}
