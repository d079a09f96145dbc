import { Button } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';

/** The buttons that pause or resume a report or an alert, and that delete it. */
export function PauseDelete({
  kind,
  id,
  name,
  isActive,
  consequence,
}: {
  kind: 'report' | 'alert';
  id: string;
  name: string;
  isActive: boolean;
  /** Of a deletion, as a sentence. */
  consequence: string;
}) {
  const path = `/${kind}s/${id}`;
  const options = { refresh: [`/${kind}s`] };
  const pause = useSend<boolean>(
    (active) => ({ path, method: 'PATCH', body: { is_active: active } }),
    options,
  );
  const done = `${kind === 'report' ? 'Report' : 'Alert'} deleted`;
  const remove = useSend<void>(() => ({ path, method: 'DELETE' }), { ...options, done });
  const press = isActive ? 'Pause' : 'Resume';
  return (
    <>
      <Button
        size="xs"
        variant="default"
        aria-label={`${press} ${name}`}
        loading={pause.isPending}
        onClick={() => pause.mutate(!isActive)}
      >
        {press}
      </Button>
      <ConfirmButton
        size="xs"
        aria-label={`Delete ${name}`}
        question={`Delete the ${kind} ${name}?`}
        consequence={consequence}
        yes="Delete"
        pending={remove.isPending}
        onConfirm={() => remove.mutateAsync()}
      >
        Delete
      </ConfirmButton>
    </>
  );
}
