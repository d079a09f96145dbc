import { Group, Input, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { useId } from 'react';
import { FRAME_TEXT_MOST, QR_FRAMES, type QrFrame } from '../../../../core/qr/frames.ts';
import { QR_SHAPES, type QrShape } from '../../../../core/qr/layout.ts';
import { sentence } from '../../api/sentence.ts';
import { ColorField } from '../../parts/color-field.tsx';
import type { QrStyle } from './qr-code.ts';
import { QrLogoField } from './qr-logo-field.tsx';

type Wrong = { field: string; message: string };

type QrStyleFormProps = {
  style: QrStyle;
  change: (part: Partial<QrStyle>) => void;
  wrong: Wrong | null;
};

const SHAPE_NAMES: Record<QrShape, string> = { square: 'Squares', rounded: 'Rounded', dots: 'Dots' };
const FRAME_NAMES: Record<QrFrame, string> = {
  none: 'None',
  line: 'Border',
  banner: 'Banner',
  bubble: 'Bubble',
};

/** Colors, shape, frame, and logo of a QR code. */
export function QrStyleForm({ style, change, wrong }: QrStyleFormProps) {
  const errorOf = (field: string, begin: string) =>
    wrong?.field === field ? sentence(`${begin} ${wrong.message}`) : null;
  return (
    <Stack gap="md">
      <Group grow gap="xs" align="start">
        {(['color', 'background'] as const).map((field) => (
          <ColorField
            key={field}
            label={field === 'color' ? 'Color' : 'Background'}
            value={style[field]}
            onChange={(value) => change({ [field]: value })}
            error={errorOf(field, 'This color')}
          />
        ))}
      </Group>
      <Choice
        label="Shape"
        names={SHAPE_NAMES}
        all={QR_SHAPES}
        value={style.shape}
        choose={(shape) => change({ shape })}
      />
      <Choice
        label="Frame"
        names={FRAME_NAMES}
        all={QR_FRAMES}
        value={style.frame}
        choose={(frame) => change({ frame })}
      />
      {style.frame !== 'none' && (
        <TextInput
          label="Text"
          maxLength={FRAME_TEXT_MOST}
          value={style.frame_text}
          error={errorOf('frame_text', 'The text')}
          onChange={(event) => change({ frame_text: event.currentTarget.value })}
        />
      )}
      <QrLogoField
        logo={style.logo}
        change={(logo) => change({ logo })}
        wrong={errorOf('logo', 'The logo')}
      />
    </Stack>
  );
}

type ChoiceProps<Value extends string> = {
  label: string;
  names: Record<Value, string>;
  all: readonly Value[];
  value: Value;
  choose: (value: Value) => void;
};

/** One of a few values. */
function Choice<Value extends string>({ label, names, all, value, choose }: ChoiceProps<Value>) {
  const id = useId();
  return (
    <div>
      <Input.Label component="div" id={id}>
        {label}
      </Input.Label>
      <SegmentedControl
        fullWidth
        aria-labelledby={id}
        data={all.map((one) => ({ value: one, label: names[one] }))}
        value={value}
        onChange={(chosen) => choose(all.find((one) => one === chosen) ?? value)}
      />
    </div>
  );
}
