import { Button, Group, Skeleton, Text } from '@mantine/core';
import { fieldDetail } from '../../api/failures.ts';
import type { LinkRecord } from '../../api/links.ts';
import { afterSuccess } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { isAlike } from '../../parts/changed-fields.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { PLAIN_STYLE, type QrStyle, svgUrl, type WrongStyle } from './qr-code.ts';
import { QrStyleForm } from './qr-style-form.tsx';
import { useQrCode } from './use-qr-code.ts';
import type { useQrStyle } from './use-qr-style.ts';

type Props = {
  link: LinkRecord;
  before: QrStyle;
  design: ReturnType<typeof useQrStyle>;
  close: () => void;
};

const WIDTH = 240;
const FIELDS = ['color', 'background', 'frame_text', 'logo'] as const;

/** Designs the QR code of a link: colors, shape, frame with a text, and logo, beside the code as it will be. */
export default function QrDialog({ link, before, design, close }: Props) {
  const { workspace } = useSession();
  const { send, keep, last } = design;
  const { draft, change, isDirty } = useDraft(before);
  const { alt, svg, ratio, wrong } = useQrCode(link, draft);
  const [refused] = FIELDS.flatMap((field) => {
    const message = send.error ? fieldDetail(send.error, field)?.message : undefined;
    return message === undefined ? [] : [{ field, message }];
  });
  const submit = () => {
    const done = () => {
      keep(draft);
      close();
    };
    if (workspace.paid) afterSuccess(send.mutateAsync(draft), done);
    else done();
  };
  return (
    <FormDialog
      title="Design the QR code"
      size={720}
      isLong
      isDirty={isDirty}
      close={close}
      send={send}
      submit={submit}
      label="Save"
      failed="Not saved"
      fields={[...FIELDS]}
      isReady={svg !== null}
      aside={<Presets draft={draft} last={last} choose={change} />}
    >
      <div className="qr-design">
        <QrStyleForm
          style={draft}
          change={change}
          wrong={wrong ?? (refused as WrongStyle | undefined) ?? null}
        />
        <div className="qr-preview" aria-live="off">
          {svg !== null ? (
            <img src={svgUrl(svg)} alt={alt} width={WIDTH} height={Math.round(ratio * WIDTH)} />
          ) : wrong ? (
            <Text size="sm" c="dimmed">
              The code follows once that is right.
            </Text>
          ) : (
            <Skeleton width={WIDTH} height={WIDTH} />
          )}
        </div>
      </div>
    </FormDialog>
  );
}

/** Whole designs to begin with. */
function Presets({
  draft,
  last,
  choose,
}: {
  draft: QrStyle;
  last: QrStyle;
  choose: (style: QrStyle) => void;
}) {
  return (
    <Group gap="xs">
      {!isAlike(draft, PLAIN_STYLE) && (
        <Button size="compact-sm" variant="subtle" onClick={() => choose(PLAIN_STYLE)}>
          Black on white
        </Button>
      )}
      {!isAlike(last, PLAIN_STYLE) && !isAlike(draft, last) && (
        <Button size="compact-sm" variant="subtle" onClick={() => choose(last)}>
          As last time
        </Button>
      )}
    </Group>
  );
}
