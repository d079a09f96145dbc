import { Input, NativeSelect, SegmentedControl, SimpleGrid, Stack, Title } from '@mantine/core';
import { type ReactNode, useId, useState } from 'react';
import { isAlike } from '../../parts/changed-fields.ts';
import { ColorField } from '../../parts/color-field.tsx';
import { PictureField } from '../../parts/picture-field.tsx';
import type { PartProps } from './editor.tsx';
import { GradientChoice } from './gradient-choice.tsx';
import type { Wrong } from './problems.ts';
import type { Theme } from './responses.ts';
import {
  BUTTON_RADII,
  BUTTON_SHADOWS,
  BUTTON_STYLES,
  CANVAS_MODES,
  CARD_MODES,
  type Choice,
  chosenOf,
  FONTS,
  GRADIENTS,
  gradientOf,
  LOOKS,
} from './theme-choices.ts';

/** The page's theme. The server replaces unreadable text colors; the preview shows it. */
export function ThemeForm({ draft, change, wrong }: PartProps) {
  const { theme } = draft;
  const set = (part: Partial<Theme>) => change({ theme: { ...theme, ...part } });
  return (
    <Stack gap="xl">
      <Part title="Looks">
        <Looks theme={theme} choose={set} />
      </Part>
      <Part title="Background">
        <CanvasFields theme={theme} set={set} wrong={wrong} />
      </Part>
      <Part title="Card">
        <OneOfFew
          label="Card style"
          choices={CARD_MODES}
          value={theme.cardMode}
          onChange={(cardMode) => set({ cardMode })}
        />
        {theme.cardMode !== 'none' && (
          <ColorField label="Card color" value={theme.cardBg} onChange={(cardBg) => set({ cardBg })} />
        )}
      </Part>
      <Part title="Text">
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <ColorField
            label="Text color"
            value={theme.textColor}
            onChange={(textColor) => set({ textColor })}
          />
          <NativeSelect
            label="Font"
            data={FONTS}
            value={theme.font}
            onChange={(event) => set({ font: chosenOf(FONTS, event.currentTarget.value) })}
          />
        </SimpleGrid>
      </Part>
      <Part title="Buttons">
        <ButtonLook theme={theme} set={set} />
      </Part>
      <Part title="Footer">
        <PictureField
          label="Image"
          of="the footer"
          description="Such as a logo: upload it, or enter its URL."
          value={theme.footerImage ?? ''}
          error={wrong('theme.footerImage') ?? wrong('theme')}
          onChange={(address) => set({ footerImage: address || null })}
        />
      </Part>
    </Stack>
  );
}

/** The shadows of a page's buttons in the size of a ready look. */
const SMALL_SHADOWS: Record<Theme['buttonShadow'], (color: string) => string> = {
  none: () => '',
  soft: (color) => `, 0 2px 4px -1px ${color}`,
  hard: (color) => `, 2px 2px 0 ${color}`,
};

/** Ready looks to begin with. Each sets all but the footer. */
function Looks({ theme, choose }: { theme: Theme; choose: (part: Partial<Theme>) => void }) {
  return (
    <div className="looks">
      {LOOKS.map(({ name, theme: look }) => (
        <button
          key={name}
          type="button"
          className="look"
          aria-pressed={isAlike({ ...theme, ...look }, theme)}
          onClick={() => choose(look)}
        >
          <span className="look-page" aria-hidden style={{ background: canvasOf(look) }}>
            <span style={{ background: look.textColor }} />
            {[0, 1].map((nth) => (
              <span
                key={nth}
                data-radius={look.buttonRadius}
                style={{
                  background: look.buttonStyle === 'outline' ? 'none' : look.buttonColor,
                  boxShadow: `inset 0 0 0 1px ${look.buttonColor}${SMALL_SHADOWS[look.buttonShadow](look.buttonShadowColor)}`,
                }}
              />
            ))}
          </span>
          {name}
        </button>
      ))}
    </div>
  );
}

function canvasOf({ canvasMode, canvasValue }: (typeof LOOKS)[number]['theme']): string {
  const gradient = GRADIENTS.find(({ name }) => canvasMode === 'gradient' && name === canvasValue);
  return gradient ? gradientOf(gradient) : canvasValue;
}

type ThemeProps = { theme: Theme; set: (part: Partial<Theme>) => void };

const FIRST = { color: '#ffffff', gradient: 'dawn', image: '' };

function CanvasFields({ theme, set, wrong }: ThemeProps & { wrong: Wrong }) {
  // The last value of each type, so that switching loses nothing.
  const [last, setLast] = useState<Record<string, string>>({
    ...FIRST,
    [theme.canvasMode]: theme.canvasValue,
  });
  const value = (canvasValue: string) => {
    setLast({ ...last, [theme.canvasMode]: canvasValue });
    set({ canvasValue });
  };
  return (
    <>
      <OneOfFew
        label="Background type"
        choices={CANVAS_MODES}
        value={theme.canvasMode}
        onChange={(canvasMode) => set({ canvasMode, canvasValue: last[canvasMode] ?? '' })}
      />
      {theme.canvasMode === 'color' && (
        <ColorField label="Background color" value={theme.canvasValue} onChange={value} />
      )}
      {theme.canvasMode === 'gradient' && <GradientChoice value={theme.canvasValue} onChange={value} />}
      {theme.canvasMode === 'image' && (
        <PictureField
          label="Picture"
          of="the background"
          description="Upload one, or enter its URL. It fills the page."
          value={theme.canvasValue}
          error={wrong('theme.canvasValue')}
          onChange={value}
        />
      )}
    </>
  );
}

function ButtonLook({ theme, set }: ThemeProps) {
  return (
    <>
      <OneOfFew
        label="Style"
        choices={BUTTON_STYLES}
        value={theme.buttonStyle}
        onChange={(buttonStyle) => set({ buttonStyle })}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <ColorField
          label="Button color"
          value={theme.buttonColor}
          onChange={(buttonColor) => set({ buttonColor })}
        />
        {theme.buttonStyle === 'fill' && (
          <ColorField
            label="Label color"
            value={theme.buttonTextColor}
            onChange={(buttonTextColor) => set({ buttonTextColor })}
          />
        )}
      </SimpleGrid>
      <OneOfFew
        label="Corners"
        choices={BUTTON_RADII}
        value={theme.buttonRadius}
        onChange={(buttonRadius) => set({ buttonRadius })}
      />
      <OneOfFew
        label="Shadow"
        choices={BUTTON_SHADOWS}
        value={theme.buttonShadow}
        onChange={(buttonShadow) => set({ buttonShadow })}
      />
      {theme.buttonShadow !== 'none' && (
        <ColorField
          label="Shadow color"
          value={theme.buttonShadowColor}
          onChange={(buttonShadowColor) => set({ buttonShadowColor })}
        />
      )}
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <Title order={2} size="h4" mb="sm">
        {title}
      </Title>
      <Stack gap="sm">{children}</Stack>
    </section>
  );
}

function OneOfFew<Value extends string>({
  label,
  choices,
  value,
  onChange,
}: {
  label: string;
  choices: Choice<Value>[];
  value: Value;
  onChange: (value: Value) => void;
}) {
  const id = useId();
  return (
    <div>
      <Input.Label id={id} component="div">
        {label}
      </Input.Label>
      <SegmentedControl
        fullWidth
        // Otherwise more than three do not fit on a phone.
        size={choices.length > 3 ? 'xs' : 'sm'}
        aria-labelledby={id}
        data={choices}
        value={value}
        onChange={onChange}
      />
    </div>
  );
}
