import { Button, FileButton, Group, Input, Progress, Text } from '@mantine/core';
import { IconUpload } from '@tabler/icons-react';
import { type DragEvent, useEffect, useId, useRef, useState } from 'react';
import { pictureAt } from '../../../core/bio/pictures.ts';
import { callApi } from '../api/call.ts';
import { fieldError } from '../api/failures.ts';
import type { ResponseOf } from '../api/responses.ts';
import { sentenceOf } from '../api/sentence.ts';
import { sendWithProgress } from '../api/upload.ts';
import { AddressField } from './address-field.tsx';
import { SmallNote } from './note.tsx';

type Picture = ResponseOf<'/bio-pages/pictures', 'post'>;

/** The API's limit of a file, in MiB. */
const MOST = { '/bio-pages/pictures': 5, '/assets/pictures': 10 } as const;
const ACCEPTED = 'image/jpeg,image/png,image/webp,image/gif,image/avif';

type Props = {
  label: string;
  /** What it is a picture of, for screen readers, such as `the page`. */
  of: string;
  description?: string;
  value: string;
  error: string | null;
  /** Called with the address, and with the size where the picture was uploaded. */
  onChange: (address: string, size?: { width: number; height: number }) => void;
  onEntered?: (address: string) => void;
  /** Where a file is sent. */
  to?: keyof typeof MOST;
  /** Only a file: no address of a picture elsewhere. */
  isFile?: boolean;
  /** What follows an upload. */
  next?: string;
};

type Upload = { sent: number; ended: AbortController } | null;

/** A picture: a file that is chosen or dropped, and uploaded, or the address of one elsewhere. */
export function PictureField({
  label,
  of,
  description,
  value,
  error,
  onChange,
  onEntered,
  to = '/bio-pages/pictures',
  isFile = false,
  next = 'Save to show it.',
}: Props) {
  const [upload, setUpload] = useState<Upload>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  const [isOver, setIsOver] = useState(false);
  const [told, setTold] = useState('');
  const reset = useRef<() => void>(null);
  const errorId = useId();
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);

  const most = MOST[to];
  const send = async (file: File | null) => {
    if (file === null) return;
    // Otherwise a browser sends no event when the same file is chosen again.
    reset.current?.();
    setTold('');
    if (file.size > most * 1_048_576) {
      const size = (file.size / 1_048_576).toFixed(1);
      return setWrong(`The picture has ${size} MiB; it must have at most ${most} MiB.`);
    }
    setWrong(null);
    const ended = new AbortController();
    running.current?.abort();
    running.current = ended;
    setUpload({ sent: 0, ended });
    try {
      const picture = await callApi<Picture>(to, {
        method: 'POST',
        file,
        headers: { 'content-type': file.type || 'application/octet-stream' },
        signal: ended.signal,
        send: sendWithProgress((sent) => setUpload({ sent, ended })),
      });
      onChange(picture.url, picture);
      setTold(`Uploaded. ${next}`);
    } catch (failure) {
      if (ended.signal.aborted) return;
      const said = fieldError(failure, 'body');
      setWrong(said === null ? `Not uploaded: ${sentenceOf(failure)}` : `The picture ${said}.`);
    } finally {
      if (running.current === ended) setUpload(null);
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    void send(event.dataTransfer.files[0] ?? null);
  };
  const isUploaded = pictureAt(URL.parse(value)?.pathname ?? '') !== null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a second way to the button inside
    <div
      className="picture-field"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      {isUploaded || isFile ? (
        <Input.Wrapper label={label} labelElement="div" description={isFile && description} error={error}>
          {isUploaded && (
            <Group gap="sm" wrap="nowrap" mt={isFile ? 6 : undefined}>
              <img src={value} alt="" />
              <Text size="sm">Uploaded picture</Text>
            </Group>
          )}
        </Input.Wrapper>
      ) : (
        <AddressField
          label={label}
          description={description}
          placeholder="https://"
          maxLength={1_024}
          value={value}
          error={error}
          onChange={(address) => onChange(address)}
          {...(onEntered && { onEntered })}
        />
      )}
      <Group gap="xs" mt={6}>
        <FileButton accept={ACCEPTED} resetRef={reset} onChange={(file) => void send(file)}>
          {(button) => (
            <Button
              {...button}
              size="xs"
              variant="default"
              leftSection={<IconUpload size={14} />}
              aria-label={`${isUploaded ? 'Replace' : 'Upload'} the picture of ${of}`}
              aria-describedby={wrong === null ? undefined : errorId}
            >
              {isUploaded ? 'Replace' : 'Upload'}
            </Button>
          )}
        </FileButton>
        {isUploaded && (
          <Button
            size="xs"
            variant="subtle"
            aria-label={`Remove the picture of ${of}`}
            onClick={() => {
              setTold('');
              onChange('');
            }}
          >
            Remove
          </Button>
        )}
        {upload === null ? (
          <SmallNote>or drop one here, at most {most} MiB</SmallNote>
        ) : (
          <Button size="xs" variant="subtle" onClick={() => upload.ended.abort()}>
            Cancel
          </Button>
        )}
      </Group>
      {upload !== null && (
        <>
          <Progress
            mt={6}
            value={upload.sent * 100}
            animated={upload.sent === 1}
            aria-label={`Upload of the picture of ${of}`}
          />
          <SmallNote mt={2}>
            {upload.sent < 1 ? `Uploading, ${Math.floor(upload.sent * 100)}%` : 'Preparing the picture'}
          </SmallNote>
        </>
      )}
      <Text size="xs" c="dimmed" role="status">
        {told}
      </Text>
      {wrong !== null && (
        <Text id={errorId} size="sm" c="var(--mantine-color-error)" role="alert" mt={4}>
          {wrong}
        </Text>
      )}
    </div>
  );
}
