/** Lets the button in the header switch between light and dark. It stores the theme where the console stores it. */
export function setUpThemeSwitch(): void {
  const button = document.querySelector<HTMLElement>('[data-theme-switch]');
  if (!button) return;
  const root = document.documentElement;
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  const current = () => root.dataset.theme ?? (prefersDark.matches ? 'dark' : 'light');
  const show = () => {
    const next = current() === 'dark' ? 'light' : 'dark';
    button.setAttribute('aria-label', `Use the ${next} theme`);
    button.textContent = next === 'dark' ? '☾' : '☀';
  };
  button.addEventListener('click', () => {
    root.dataset.theme = current() === 'dark' ? 'light' : 'dark';
    localStorage.setItem('mantine-color-scheme-value', root.dataset.theme);
    show();
  });
  prefersDark.addEventListener('change', show);
  button.hidden = false;
  show();
}
