import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useApi, useSend } from '../../../api/queries.ts';
import { sentenceOf } from '../../../api/sentence.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Note, SmallNote } from '../../../parts/note.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { TrashButton } from '../../../parts/trash-button.tsx';
import { UTM_FIELDS } from './link-draft.ts';
import {
  MOST_TEMPLATES,
  TEMPLATES_PATH,
  type TemplatesDialogProps,
  type UtmTemplates,
} from './utm-templates.ts';

type Template = UtmTemplates['utm_templates'][number];

/** The workspace's UTM templates: saves the parameters of the form as one, deletes one. */
export default function UtmTemplatesDialog({ parameters, close }: TemplatesDialogProps) {
  const templates = useApi<UtmTemplates>(TEMPLATES_PATH, { limit: MOST_TEMPLATES });
  return (
    <Dialog title="UTM templates" close={close}>
      <Stack gap="md">
        <SaveForm parameters={parameters} />
        <QueryView query={templates} lines={3}>
          {({ utm_templates: all }) =>
            all.length === 0 ? (
              <Note>No templates yet. A template fills the same parameters into any link.</Note>
            ) : (
              <Stack component="ul" gap="xs" className="plain-list" aria-label="UTM templates">
                {all.map((template) => (
                  <Row key={template.id} template={template} />
                ))}
              </Stack>
            )
          }
        </QueryView>
      </Stack>
    </Dialog>
  );
}

/** `source newsletter, medium email` */
const wordsOf = (parameters: Partial<Record<(typeof UTM_FIELDS)[number], string | null>>): string =>
  UTM_FIELDS.flatMap((field) => {
    const value = parameters[field]?.trim() ?? '';
    return value === '' ? [] : [`${field.slice('utm_'.length)} ${value}`];
  }).join(', ');

function SaveForm({ parameters }: Pick<TemplatesDialogProps, 'parameters'>) {
  const [name, setName] = useState('');
  const save = useSend<object>((body) => ({ path: TEMPLATES_PATH, once: true, body }), {
    refresh: [TEMPLATES_PATH],
    done: 'Template saved',
    tellFailure: false,
  });
  const words = wordsOf(parameters);
  const isReady = name.trim() !== '' && words !== '';
  const submit = () => {
    if (!isReady) return;
    const given = UTM_FIELDS.map((field) => [field, parameters[field].trim() || null]);
    save.mutate({ name: name.trim(), ...Object.fromEntries(given) }, { onSuccess: () => setName('') });
  };
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <TextInput
        label="Name of a new template"
        description={words === '' ? 'Fill in a UTM parameter of the link first.' : words}
        data-autofocus
        maxLength={100}
        flex={1}
        value={name}
        error={save.isError && sentenceOf(save.error)}
        onChange={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => {
          // Not a form: the dialog is inside that of the link.
          if (event.key !== 'Enter') return;
          event.preventDefault();
          submit();
        }}
      />
      <Button disabled={!isReady} loading={save.isPending} onClick={submit}>
        Save
      </Button>
    </Group>
  );
}

function Row({ template }: { template: Template }) {
  const { id, created_at: _, name, ...parameters } = template;
  const remove = useSend<void>(() => ({ path: `${TEMPLATES_PATH}/${id}`, method: 'DELETE' }), {
    refresh: [TEMPLATES_PATH],
    done: `Template ${name} deleted`,
    undo: () => ({ path: TEMPLATES_PATH, body: { name, ...parameters } }),
  });
  return (
    <Group component="li" justify="space-between" wrap="nowrap" gap="sm">
      <div style={{ overflowWrap: 'anywhere' }}>
        <Text size="sm">{name}</Text>
        <SmallNote>{wordsOf(parameters)}</SmallNote>
      </div>
      <TrashButton what={`the template ${name}`} remove={remove} />
    </Group>
  );
}
