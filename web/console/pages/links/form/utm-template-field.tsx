import { Button, Group, Select } from '@mantine/core';
import { Suspense, useState } from 'react';
import { useApi } from '../../../api/queries.ts';
import { useSession } from '../../../api/session.ts';
import { lazyPage } from '../../../shell/lazy-page.tsx';
import type { FormFields } from './fields.ts';
import { UTM_FIELDS } from './link-draft.ts';
import {
  MOST_TEMPLATES,
  TEMPLATES_PATH,
  type TemplatesDialogProps,
  type UtmParameters,
  type UtmTemplates,
} from './utm-templates.ts';

const DIALOG = lazyPage<TemplatesDialogProps>(() => import('./utm-templates-dialog.tsx'));

/** Fills UTM parameters from a template of the workspace, and opens the dialog in which operators make one. */
export function UtmTemplateField({ draft, fill }: Pick<FormFields, 'draft' | 'fill'>) {
  const { can } = useSession();
  const templates = useApi<UtmTemplates>(TEMPLATES_PATH, { limit: MOST_TEMPLATES });
  const [isOpen, setOpen] = useState(false);
  const all = templates.data?.utm_templates ?? [];
  const choose = (id: string | null) => {
    const template = all.find((one) => one.id === id);
    if (!template) return;
    // What the template does not set stays as it is.
    const given = UTM_FIELDS.flatMap((field) => {
      const value = template[field];
      return value === null ? [] : [[field, value]];
    });
    fill(Object.fromEntries(given));
  };
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <Select
        label="UTM template"
        placeholder={all.length === 0 ? 'No templates yet' : 'Fill in from a template'}
        data={all.map(({ id, name }) => ({ value: id, label: name }))}
        value={chosenOf(all, draft)}
        onChange={choose}
        disabled={all.length === 0}
        searchable
        flex={1}
      />
      {can('operator') && (
        <Button variant="default" onClick={() => setOpen(true)}>
          Templates
        </Button>
      )}
      {isOpen && (
        <Suspense fallback={null}>
          <Opened parameters={draft} close={() => setOpen(false)} />
        </Suspense>
      )}
    </Group>
  );
}

/** The template that the fields are of; null: none. */
const chosenOf = (all: UtmTemplates['utm_templates'], draft: UtmParameters): string | null =>
  all.find((template) => UTM_FIELDS.every((field) => (template[field] ?? '') === draft[field].trim()))?.id ??
  null;

function Opened(props: TemplatesDialogProps) {
  const [TemplatesDialog] = useState(() => DIALOG.component());
  return <TemplatesDialog {...props} />;
}
