import { createTheme, type MantineColorsTuple } from '@mantine/core';

/** Hoplog's green, light to dark; shade 7 on white and shade 4 on dark have a contrast of 4.5:1. */
const HOP: MantineColorsTuple = [
  '#e9f7ef',
  '#d3eddd',
  '#a8dabd',
  '#78c69a',
  '#51b57d',
  '#37a968',
  '#1f8a50',
  '#157343',
  '#0f6139',
  '#064d2b',
];

/** Mantine theme, with system fonts. */
export const THEME = createTheme({
  primaryColor: 'hop',
  primaryShade: { light: 7, dark: 7 },
  colors: { hop: HOP },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SFMono-Regular", Menlo, Consolas, "Liberation Mono", monospace',
  defaultRadius: 'md',
  cursorType: 'pointer',
  autoContrast: true,
  respectReducedMotion: true,
  components: {
    // A `header` element would make every dialog a second banner landmark.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    // Not focusable by default.
    PasswordInput: {
      defaultProps: {
        visibilityToggleButtonProps: { 'aria-label': 'Show or hide the password', tabIndex: 0 },
      },
    },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Dismiss' } } },
    // Titles in the alert's color are below 4.5:1; border and icon keep the color.
    Alert: { defaultProps: { styles: { label: { color: 'var(--mantine-color-text)' } } } },
  },
});
