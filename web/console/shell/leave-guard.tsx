import { Button, Group, Modal, Text } from '@mantine/core';
import { type ReactNode, useLayoutEffect, useState } from 'react';
import { guardLeaving } from './leaving.ts';

const MOVES = ['pushState', 'replaceState'];

type Props = {
  /** Whether there are unsaved changes. */
  active: boolean;
  title?: string;
  /** Text about what will be lost. */
  children?: ReactNode;
  /** Whether a change of the query alone loses them too, as in a dialog. */
  withQuery?: boolean;
};

/**
 * Asks before unsaved changes are lost by a link, the back button or signing out. For closing the tab, the browser
 * asks.
 */
export function LeaveGuard({
  active,
  title = 'Leave without saving?',
  children = 'Your changes on this page will be lost.',
  withQuery = false,
}: Props) {
  const [leave, setLeave] = useState<(() => void) | null>(null);

  // Not an effect after painting: React may delay it past the next key or step back.
  useLayoutEffect(() => {
    if (!active) return;
    const here = window.location.pathname;
    const at = () => `${here}${window.location.search}`;
    let held = at();
    let isAllowed = false;
    const staysAt = ({ pathname, search }: { pathname: string; search: string }) =>
      pathname === here && (!withQuery || `${pathname}${search}` === held);

    const allow = (go: () => void) => () => {
      isAllowed = true;
      setLeave(null);
      go();
    };
    const onUnload = (event: BeforeUnloadEvent) => {
      if (!isAllowed) event.preventDefault();
    };
    // The router emits every navigation that is not the browser's own.
    const onMove = () => {
      held = at();
    };
    // In the capture phase, before components handle the click.
    const onClick = (event: MouseEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const anchor = target?.closest('a');
      const isPlain =
        event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
      if (!anchor?.href || anchor.target === '_blank' || !isPlain || isAllowed) return;
      if (staysAt(new URL(anchor.href))) return;
      event.preventDefault();
      event.stopPropagation();
      setLeave(() => allow(() => anchor.click()));
    };
    const onPop = (event: PopStateEvent) => {
      if (isAllowed || staysAt(window.location)) return;
      event.stopImmediatePropagation();
      window.history.pushState(null, '', held);
      setLeave(() => allow(() => window.history.back()));
    };
    window.addEventListener('beforeunload', onUnload);
    for (const name of MOVES) window.addEventListener(name, onMove);
    document.addEventListener('click', onClick, { capture: true });
    const takeBack = guardLeaving({
      onPop,
      ask: (go) =>
        setLeave(() => () => {
          setLeave(null);
          go();
        }),
    });
    return () => {
      window.removeEventListener('beforeunload', onUnload);
      for (const name of MOVES) window.removeEventListener(name, onMove);
      document.removeEventListener('click', onClick, { capture: true });
      takeBack();
      // Nothing is unsaved now: an import has ended, for example.
      setLeave(null);
    };
  }, [active, withQuery]);

  return (
    <Modal
      opened={leave !== null}
      onClose={() => setLeave(null)}
      title={title}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Text size="sm">{children}</Text>
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
