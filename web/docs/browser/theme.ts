/** Where the console keeps its theme too: a reader who chose one there has it here. */
const chosen = localStorage.getItem('mantine-color-scheme-value');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
