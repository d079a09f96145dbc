import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import { ASSET_FIELDS } from '../../../../core/referrals/assets.ts';
import { useSend } from '../../api/queries.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { PictureField } from '../../parts/picture-field.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import type { Asset, Program } from './responses.ts';

const KINDS = [
  { value: 'image', label: 'An image' },
  { value: 'text', label: 'A text' },
  { value: 'link', label: 'A link' },
];

type Draft = {
  program_id: string;
  type: Asset['type'];
  name: string;
  image_url: string;
  text: string;
  url: string;
};

/** Gives the affiliates of a program an image, a text, or a link. */
export function AssetDialog({ programs, close }: { programs: readonly Program[]; close: () => void }) {
  const add = useSend<object>((body) => ({ path: '/assets', body, once: true }), {
    refresh: ['/assets'],
    done: 'Asset added',
    tellFailure: false,
  });
  const { draft, change, text, choice, isDirty } = useDraft<Draft>(
    { program_id: programs[0]?.id ?? '', type: 'image', name: '', image_url: '', text: '', url: '' },
    add.error,
  );
  const field = ASSET_FIELDS[draft.type];
  const content = draft[field].trim();
  const { program_id, type } = draft;
  const body = { program_id, type, name: draft.name.trim(), [field]: content };
  return (
    <FormDialog
      title="Add an asset"
      close={close}
      isDirty={isDirty}
      send={add}
      submit={() => add.mutate(body, { onSuccess: close })}
      label="Add"
      failed="Not added"
      fields={['name', field]}
      isReady={body.name !== '' && content !== ''}
    >
      {programs.length > 1 && (
        <NativeSelect
          label="Program"
          description="Its affiliates alone see the asset."
          data={programs.map(({ id, name }) => ({ value: id, label: name }))}
          value={program_id}
          onChange={(event) => change({ program_id: event.currentTarget.value })}
        />
      )}
      <NativeSelect
        label="Kind"
        data={KINDS}
        value={type}
        onChange={(event) => change({ type: event.currentTarget.value as Draft['type'] })}
      />
      <TextInput
        label="Name"
        description="What affiliates see above it, such as “Banner for a sidebar”."
        required
        maxLength={100}
        {...text('name', 'name', 'The name')}
      />
      {type === 'image' && (
        <PictureField
          label="Image"
          of="the asset"
          description="JPEG, PNG, WebP, GIF, or AVIF. Stored at most 1,600 pixels wide and high."
          to="/assets/pictures"
          isFile
          next="Press “Add” to show it in the portal."
          {...choice('image_url')}
        />
      )}
      {type === 'text' && (
        <Textarea
          label="Text"
          description="Plain text, as affiliates copy it."
          required
          autosize
          minRows={4}
          maxRows={12}
          maxLength={10_000}
          {...text('text', 'text', 'The text')}
        />
      )}
      {type === 'link' && (
        <TextInput
          label="Address"
          required
          placeholder="https://"
          maxLength={2_000}
          {...text('url', 'url', 'The address')}
        />
      )}
    </FormDialog>
  );
}
