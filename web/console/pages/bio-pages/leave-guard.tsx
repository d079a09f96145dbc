import { Button, Group, Modal, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { askBeforeLeaving } from '../../shell/leaving.ts';

const MOVES = ['pushState', 'replaceState'];

/**
 * Asks before unsaved changes are left behind: by a link of the console, by the browser's way back, by closing the
 * tab. The last is asked by the browser in its own words.
 */
export function LeaveGuard({ active }: { active: boolean }) {
  const [leave, setLeave] = useState<(() => void) | null>(null);

  useEffect(() => {
    if (!active) return;
    const here = window.location.pathname;
    const at = () => `${here}${window.location.search}`;
    let held = at();
    let isAllowed = false;

    const allow = (go: () => void) => () => {
      isAllowed = true;
      setLeave(null);
      go();
    };
    const onUnload = (event: BeforeUnloadEvent) => {
      if (!isAllowed) event.preventDefault();
    };
    // The router tells of every change of the address that is not the browser's.
    const onMove = () => {
      held = at();
    };
    // Before any component sees the press.
    const onClick = (event: MouseEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const anchor = target?.closest('a');
      const isPlain =
        event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
      if (!anchor?.href || anchor.target === '_blank' || !isPlain || isAllowed) return;
      if (new URL(anchor.href).pathname === here) return;
      event.preventDefault();
      event.stopPropagation();
      setLeave(() => allow(() => anchor.click()));
    };
    const onPop = (event: PopStateEvent) => {
      if (isAllowed || window.location.pathname === here) return;
      event.stopImmediatePropagation();
      window.history.pushState(null, '', held);
      setLeave(() => allow(() => window.history.back()));
    };
    window.addEventListener('beforeunload', onUnload);
    for (const name of MOVES) window.addEventListener(name, onMove);
    document.addEventListener('click', onClick, { capture: true });
    askBeforeLeaving(onPop);
    return () => {
      window.removeEventListener('beforeunload', onUnload);
      for (const name of MOVES) window.removeEventListener(name, onMove);
      document.removeEventListener('click', onClick, { capture: true });
      askBeforeLeaving(null);
    };
  }, [active]);

  return (
    <Modal
      opened={leave !== null}
      onClose={() => setLeave(null)}
      title="Leave without saving?"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Text size="sm">Your changes of this page would be lost.</Text>
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={() => setLeave(null)}>
          Stay
        </Button>
        <Button color="red.8" onClick={() => leave?.()}>
          Leave
        </Button>
      </Group>
    </Modal>
  );
}
