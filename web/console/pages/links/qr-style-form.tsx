import { Anchor, Button, Group, Select, Stack, Switch } from '@mantine/core';
import { Link } from 'wouter';
import { QR_SHAPES, type QrShape } from '../../../../core/qr/layout.ts';
import { useSession } from '../../api/session.ts';
import { isAlike } from '../../parts/changed-fields.ts';
import { ColorField } from '../../parts/color-field.tsx';
import { PLAIN_STYLE, type QrStyle, type WrongColor } from './qr-code.ts';

type QrStyleFormProps = {
  style: QrStyle;
  onChange(style: QrStyle): void;
  /** Whether the workspace has a logo; null: not known yet. */
  hasLogo: boolean | null;
  wrong: WrongColor | null;
};

const SHAPE_NAMES: Record<QrShape, string> = { square: 'Squares', rounded: 'Rounded', dots: 'Dots' };
const SHAPES = QR_SHAPES.map((value) => ({ value, label: SHAPE_NAMES[value] }));

/** Colors, shape, and logo of a QR code. */
export function QrStyleForm({ style, onChange, hasLogo, wrong }: QrStyleFormProps) {
  const { can } = useSession();
  const isPlain = isAlike({ ...PLAIN_STYLE, ...style }, PLAIN_STYLE);
  return (
    <Stack gap="xs" w="100%">
      <Group grow gap="xs" align="start">
        {(['color', 'background'] as const).map((field) => (
          <ColorField
            key={field}
            label={field === 'color' ? 'Color' : 'Background'}
            value={style[field]}
            onChange={(value) => onChange({ ...style, [field]: value })}
            error={wrong?.field === field ? `This color ${wrong.message}` : null}
          />
        ))}
      </Group>
      <Select
        label="Shape"
        data={SHAPES}
        value={style.shape ?? 'square'}
        allowDeselect={false}
        onChange={(value) =>
          onChange({ ...style, shape: QR_SHAPES.find((one) => one === value) ?? 'square' })
        }
      />
      <Group justify="space-between" gap="xs">
        <Switch
          size="xs"
          label="Logo in the middle"
          checked={style.hasLogo && hasLogo !== false}
          disabled={!hasLogo}
          onChange={({ currentTarget }) => onChange({ ...style, hasLogo: currentTarget.checked })}
        />
        {/* In the same line: it shows only after loading and must not move the fields below. */}
        {hasLogo === false && can('owner') && (
          <Anchor component={Link} href="/settings" size="xs" underline="always">
            Upload a logo
          </Anchor>
        )}
        {!isPlain && (
          <Button size="compact-xs" variant="subtle" onClick={() => onChange(PLAIN_STYLE)}>
            Black on white
          </Button>
        )}
      </Group>
    </Stack>
  );
}
