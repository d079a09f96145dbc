/** The console stores its theme here too, so a choice there also applies here. */
const chosen = localStorage.getItem('mantine-color-scheme-value');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
