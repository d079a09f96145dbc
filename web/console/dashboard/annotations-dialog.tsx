import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useId, useState } from 'react';
import { useApi, useSend } from '../api/queries.ts';
import { sentenceOf } from '../api/sentence.ts';
import { formatDayIn } from '../formats.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Note } from '../parts/note.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { TrashButton } from '../parts/trash-button.tsx';
import { instantOfDay } from '../parts/window.ts';
import { ANNOTATIONS_PATH, type Annotations, MOST_ANNOTATIONS } from './annotations.ts';
import { dayIn } from './buckets.ts';
import { useSource } from './source.ts';

/** The workspace's annotations: makes one, deletes one. */
export default function AnnotationsDialog({ close }: { close: () => void }) {
  const annotations = useApi<Annotations>(ANNOTATIONS_PATH, { limit: MOST_ANNOTATIONS });
  const [text, setText] = useState('');
  return (
    <Dialog title="Annotations" close={close} isDirty={text.trim() !== ''}>
      <Stack gap="md">
        <AddForm text={text} setText={setText} />
        <QueryView query={annotations} lines={3}>
          {({ annotations: all }) =>
            all.length === 0 ? (
              <Note>
                No annotations yet. An annotation says on the chart what happened on a day, to all members.
              </Note>
            ) : (
              <Stack component="ul" gap={4} className="plain-list" aria-label="All annotations">
                {all
                  .toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at))
                  .map((annotation) => (
                    <Row key={annotation.id} annotation={annotation} />
                  ))}
              </Stack>
            )
          }
        </QueryView>
      </Stack>
    </Dialog>
  );
}

/** Days that an annotation may have. While a year is typed, it is 0002, 0020 and 0202 before 2026. */
const [FIRST_DAY, LAST_DAY] = ['2000-01-01', '2099-12-31'] as const;

function AddForm({ text, setText }: { text: string; setText: (text: string) => void }) {
  const { zone } = useSource();
  const today = dayIn(Date.now(), zone);
  const [day, setDay] = useState(today);
  const wrong = useId();
  const add = useSend<object>((body) => ({ path: ANNOTATIONS_PATH, once: true, body }), {
    refresh: [ANNOTATIONS_PATH],
    done: 'Annotation added',
    tellFailure: false,
  });
  const isDay = day >= FIRST_DAY && day <= LAST_DAY;
  const isReady = text.trim() !== '' && isDay;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isReady) return;
    const body = { at: instantOfDay(day, zone, 0).toISOString(), text: text.trim() };
    add.mutate(body, { onSuccess: () => setText('') });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <TextInput
          label="What happened"
          placeholder="Version 2 released"
          data-autofocus
          maxLength={200}
          value={text}
          error={add.isError && sentenceOf(add.error)}
          onChange={(event) => {
            if (add.isError) add.reset();
            setText(event.currentTarget.value);
          }}
        />
        <Group align="flex-end" gap="xs" wrap="nowrap">
          <TextInput
            type="date"
            label="Day"
            style={{ flex: 1 }}
            min={FIRST_DAY}
            max={LAST_DAY}
            value={day}
            aria-invalid={!isDay}
            aria-describedby={isDay ? undefined : wrong}
            onChange={(event) => setDay(event.currentTarget.value)}
          />
          <Button type="submit" disabled={!isReady} loading={add.isPending}>
            Add
          </Button>
        </Group>
        {!isDay && (
          <Text id={wrong} size="xs" c="var(--mantine-color-error)" role="status">
            Choose a day from 2000 to 2099.
          </Text>
        )}
      </Stack>
    </form>
  );
}

function Row({ annotation: { id, at, text } }: { annotation: Annotations['annotations'][number] }) {
  const { zone } = useSource();
  const remove = useSend<void>(() => ({ path: `${ANNOTATIONS_PATH}/${id}`, method: 'DELETE' }), {
    refresh: [ANNOTATIONS_PATH],
    done: 'Annotation deleted',
    undo: () => ({ path: ANNOTATIONS_PATH, body: { at, text } }),
  });
  return (
    <Group component="li" justify="space-between" wrap="nowrap" gap="sm">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        <Text span c="dimmed" size="sm">
          {formatDayIn(at, zone)}
        </Text>{' '}
        {text}
      </Text>
      <TrashButton what={`the annotation ${text}`} remove={remove} />
    </Group>
  );
}
