import { Stack, Textarea, TextInput } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { PREVIEW_DESCRIPTION_LIMIT, PREVIEW_TITLE_LIMIT } from '../../../../../core/links/preview.ts';
import { sizeOf } from '../../../parts/image-size.ts';
import { Note } from '../../../parts/note.tsx';
import { type FormFields, joined, type LinkFormSection } from '../form/fields.ts';
import type { PreviewDraft } from './preview-draft.ts';

function PreviewFields({ draft, set, wrong }: FormFields) {
  const { preview } = draft;
  const change = (fields: Partial<PreviewDraft>) => set('preview', { ...preview, ...fields });
  const latest = useRef(preview);
  useEffect(() => {
    latest.current = preview;
  });
  const readSize = async () => {
    const url = preview.image_url.trim();
    if (preview.size !== null || !url.startsWith('https://')) return;
    const read = await sizeOf(url);
    if (read === null || latest.current.image_url.trim() !== url) return;
    set('preview', { ...latest.current, size: { image_width: read.width, image_height: read.height } });
  };
  return (
    <Stack gap="md">
      <Note>Networks and messengers show this card for the short link. People are redirected as before.</Note>
      <TextInput
        label="Card title"
        description="X shows 70 characters of it."
        maxLength={PREVIEW_TITLE_LIMIT}
        value={preview.title}
        error={wrong('preview.title')}
        onChange={(event) => change({ title: event.currentTarget.value })}
      />
      <Textarea
        label="Card description"
        description="X shows 200 characters of it."
        autosize
        minRows={2}
        maxLength={PREVIEW_DESCRIPTION_LIMIT}
        value={preview.description}
        error={wrong('preview.description')}
        onChange={(event) => change({ description: event.currentTarget.value.replaceAll(/\s*\n\s*/g, ' ') })}
      />
      <TextInput
        label="Card image"
        description="The address of a PNG or JPEG of 1200 × 630 pixels, at most 600 KB. Networks fetch it; its size is read here."
        spellCheck={false}
        inputMode="url"
        value={preview.image_url}
        error={wrong('preview.image_url')}
        onChange={(event) => change({ image_url: event.currentTarget.value, size: null })}
        onBlur={() => void readSize()}
      />
      <Card preview={preview} />
    </Stack>
  );
}

/** The card as most networks draw it, with the size of the image once it is known. */
function Card({ preview: { title, description, image_url, size } }: { preview: PreviewDraft }) {
  if (title.trim() === '' && description.trim() === '' && image_url.trim() === '') return null;
  return (
    <figure className="preview-card" aria-label="The card">
      {image_url.trim() !== '' && (
        <div className="preview-card-image">
          {size === null ? '1200 × 630' : `${size.image_width} × ${size.image_height}`}
        </div>
      )}
      <figcaption>
        <strong>{title || 'The short address'}</strong>
        <span>{description || 'The short address'}</span>
      </figcaption>
    </figure>
  );
}

/** The card of link-preview bots. */
export const PREVIEW: LinkFormSection = {
  title: 'Social preview',
  hint: 'The card that networks and messengers show',
  paths: /^preview(\.|$)/,
  words: ({ preview }) =>
    joined(
      preview.title.trim() !== '' && 'title',
      preview.description.trim() !== '' && 'description',
      preview.image_url.trim() !== '' && 'image',
    ),
  Fields: PreviewFields,
};
