import { Button, Group, Text, Title } from '@mantine/core';
import { IconHeading, IconPlus } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useApi } from '../../api/queries.ts';
import { useWindow } from '../../parts/window.ts';
import { WindowPicker } from '../../parts/window-picker.tsx';
import type { BioPage, PageStats } from './answers.ts';
import { ButtonFields } from './button-fields.tsx';
import { ButtonFigures } from './button-figures.tsx';
import { type DraftButton, moved, newButton, replaced } from './draft.ts';
import type { PartProps } from './editor.tsx';
import { SocialLinksForm } from './social-links-form.tsx';

const MOST = 50;

/** The buttons and headings of the page in their order, each button with what it brought. */
export function ButtonsForm({ draft, change, error, page }: PartProps & { page: BioPage }) {
  const { query } = useWindow();
  const stats = useApi<PageStats>(`/bio-pages/${page.id}/stats`, query);
  const figures = new Map(stats.data?.links.map((button) => [button.id, button]));
  const tracked = new Map(page.links.map((button) => [button.id, button]));
  const { links } = draft;
  const [told, setTold] = useState('');
  const list = useRef<HTMLOListElement>(null);
  const [added, setAdded] = useState<string | null>(null);

  useEffect(() => {
    if (added !== null)
      list.current?.querySelector<HTMLInputElement>(`[data-button="${added}"] input`)?.focus();
  }, [added]);

  const set = (next: DraftButton[]) => change({ links: next });
  const add = (type: DraftButton['type']) => {
    const button = newButton(type);
    set([...links, button]);
    setAdded(button.id);
  };
  const move = (from: number, to: number) => {
    set(moved(links, from, to));
    setTold(`${nameOf(links[from])} is now ${to + 1} of ${links.length}`);
  };

  return (
    <>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          Buttons
        </Title>
        <WindowPicker />
      </Group>
      {stats.isError && (
        <Text size="sm" c="dimmed" mb="sm">
          Figures can’t be shown: {stats.error instanceof Error ? stats.error.message : 'no answer'}
        </Text>
      )}
      {links.length === 0 && (
        <Text size="sm" c="dimmed" mb="sm">
          No buttons yet.
        </Text>
      )}
      <ol ref={list} className="bio-buttons" aria-label="Buttons">
        {links.map((button, index) => (
          <ButtonFields
            key={button.id}
            button={button}
            place={{ index, of: links.length }}
            error={error}
            isTracked={Boolean(tracked.get(button.id)?.tracked_link_id)}
            change={(fields) => set(replaced(links, index, { ...button, ...fields }))}
            move={(to) => move(index, to)}
            remove={() => {
              set(links.filter(({ id }) => id !== button.id));
              setTold(`${nameOf(button)} is removed`);
            }}
          >
            {button.type === 'link' && (
              <ButtonFigures
                saved={tracked.get(button.id)}
                figures={figures.get(button.id)}
                isAwaited={stats.isPending}
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
        {links.length >= MOST && (
          <Text size="sm" c="dimmed">
            A page has at most {MOST} of them.
          </Text>
        )}
      </Group>
      <SocialLinksForm draft={draft} change={change} error={error} />
    </>
  );
}

const nameOf = (button: DraftButton | undefined) => button?.label.trim() || 'It';
