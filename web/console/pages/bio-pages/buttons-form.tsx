import { Button, Group, Text, Title } from '@mantine/core';
import { IconHeading, IconPlus } from '@tabler/icons-react';
import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Note } from '../../parts/note.tsx';
import { useWindow } from '../../parts/use-window.ts';
import { WindowPicker } from '../../parts/window-picker.tsx';
import { ButtonFields } from './button-fields.tsx';
import { ButtonFigures, FiguresOfAll, hasBrought } from './button-figures.tsx';
import { type DraftButton, moved, newButton, replaced } from './draft.ts';
import type { PartProps } from './editor.tsx';
import { OperatorFields } from './operator-fields.tsx';
import type { BioPage, PageStats } from './responses.ts';
import { SocialLinksForm } from './social-links-form.tsx';
import { useRowDrag } from './use-row-drag.ts';

const MOST = 50;

/** The page's buttons and headings in order, with statistics per button. */
export function ButtonsForm({ draft, change, wrong, page }: PartProps & { page: BioPage }) {
  const { workspace } = useSession();
  const { query } = useWindow();
  const hasFigures = workspace.paid;
  const stats = useApi<PageStats>(hasFigures ? `/bio-pages/${page.id}/stats` : null, query);
  const figures = new Map(stats.data?.links.map((button) => [button.id, button]));
  const tracked = new Map(page.links.map((button) => [button.id, button]));
  const { links } = draft;
  const [told, setTold] = useState('');
  const list = useRef<HTMLOListElement>(null);
  const focusNext = useFocus(list);

  const set = (next: DraftButton[]) => change({ links: next });
  const add = (type: DraftButton['type']) => {
    const button = newButton(type);
    set([...links, button]);
    focusNext([`[data-button="${button.id}"] input`]);
  };
  const move = (from: number, to: number, by: 'handle' | 'arrows' = 'arrows') => {
    const button = links[from];
    set(moved(links, from, to));
    setTold(`${nameOf(button)} is now ${to + 1} of ${links.length}`);
    // Moving an element loses the focus; at either end only one direction remains.
    const arrows = by === 'handle' ? ['handle'] : to < from ? ['up', 'down'] : ['down', 'up'];
    focusNext(arrows.map((way) => `[data-button="${button?.id}"] [data-moves="${way}"]:enabled`));
  };
  const drag = useRowDrag(list, (from, to) => move(from, to, 'handle'));
  const remove = (index: number) => {
    const rest = links.filter((_, at) => at !== index);
    set(rest);
    setTold(`${nameOf(links[index])} is removed`);
    const next = rest[index] ?? rest[index - 1];
    focusNext(next ? [`[data-button="${next.id}"] input`] : []);
  };

  return (
    <>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          Buttons
        </Title>
        {hasFigures && <WindowPicker />}
      </Group>
      <FiguresOfAll stats={stats} hasFigures={hasFigures} />
      <OperatorFields>
        {links.length === 0 && <Note mb="sm">No buttons yet.</Note>}
        <ol ref={list} className="bio-buttons" aria-label="Buttons">
          {links.map((button, index) => (
            <ButtonFields
              key={button.id}
              button={button}
              place={{ index, of: links.length }}
              wrong={wrong}
              hasHistory={
                Boolean(tracked.get(button.id)?.tracked_link_id) || hasBrought(figures.get(button.id))
              }
              change={(fields) => set(replaced(links, index, { ...button, ...fields }))}
              move={(to) => move(index, to)}
              drag={drag}
              remove={() => remove(index)}
            >
              {button.type === 'link' && (
                <ButtonFigures
                  saved={tracked.get(button.id)}
                  figures={figures.get(button.id)}
                  isAwaited={hasFigures && (stats.isPending || stats.isPlaceholderData)}
                />
              )}
            </ButtonFields>
          ))}
        </ol>
        <Text size="sm" c="dimmed" aria-live="polite" mt="xs">
          {told}
        </Text>
        <Group mt="xs" mb="xl">
          <Button
            variant="default"
            leftSection={<IconPlus size={18} stroke={1.6} />}
            disabled={links.length >= MOST}
            onClick={() => add('link')}
          >
            Add a button
          </Button>
          <Button
            variant="default"
            leftSection={<IconHeading size={18} stroke={1.6} />}
            disabled={links.length >= MOST}
            onClick={() => add('section')}
          >
            Add a heading
          </Button>
          {links.length >= MOST && <Note>A page has at most {MOST} of them.</Note>}
        </Group>
        <SocialLinksForm draft={draft} change={change} wrong={wrong} />
      </OperatorFields>
    </>
  );
}

/**
 * After the next render, focuses the first element that one of the selectors finds. A layout effect: a passive one of
 * the render before may still be pending, and would run before the elements have moved.
 *
 * @param within root of the search
 */
function useFocus(within: RefObject<HTMLElement | null>): (selectors: string[]) => void {
  const wanted = useRef<string[]>([]);
  useLayoutEffect(() => {
    const found = wanted.current.flatMap(
      (selector) => within.current?.querySelector<HTMLElement>(selector) ?? [],
    );
    wanted.current = [];
    found[0]?.focus();
  });
  return (selectors) => {
    wanted.current = selectors;
  };
}

const nameOf = (button: DraftButton | undefined) => button?.label.trim() || 'It';
