import { Button, Skeleton, useComputedColorScheme } from '@mantine/core';
import { IconEye } from '@tabler/icons-react';
import { useState } from 'react';
import { useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureNotice } from '../../parts/failure-notice.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { referrerName } from './referrer-cell.tsx';
import type { Enrollment } from './responses.ts';

type Preview = ResponseOf<'/enrollments/{id}/preview', 'post'>;

/** Opens the embedded dashboard as this referrer sees it. */
export function PreviewReferrer({ enrollment }: { enrollment: Enrollment }) {
  const [isOpen, setOpen] = useState(false);
  const preview = useSend<void, Preview>(() => ({ path: `/enrollments/${enrollment.partner_id}/preview` }), {
    tellFailure: false,
  });
  const open = () => {
    setOpen(true);
    preview.mutate();
  };
  return (
    <>
      <Button variant="default" size="xs" leftSection={<IconEye size={14} />} onClick={open}>
        Preview as this referrer
      </Button>
      {isOpen && (
        <Dialog title={`What ${referrerName(enrollment)} sees`} close={() => setOpen(false)} size="xl">
          {preview.error !== null && <FailureNotice error={preview.error} again={() => preview.mutate()} />}
          {preview.isPending && <Skeleton height="60vh" />}
          {preview.data && !preview.isPending && <Frame preview={preview.data} />}
          <SmallNote mt="xs">
            The dashboard that your site embeds, with this referrer’s data. Nothing can be changed here, and
            the audit log shows that you looked.
          </SmallNote>
        </Dialog>
      )}
    </>
  );
}

/** The page of this origin: the console may be open by another name of the deployment. */
function Frame({ preview }: { preview: Preview }) {
  const { pathname, search, hash } = new URL(preview.url);
  const theme = useComputedColorScheme('light') === 'dark' ? '&theme=dark' : '';
  return (
    <iframe
      className="referrer-preview"
      title="Preview of the referral dashboard"
      src={`${pathname}${search}${theme}${hash}`}
    />
  );
}
