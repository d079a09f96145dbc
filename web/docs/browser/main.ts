import '../docs.css';
import { setUpCopying } from './copying.ts';
import { setUpReaderKey } from './reader-key.ts';
import { setUpSearch } from './search.ts';
import { setUpTabs } from './tabs.ts';
import { setUpThemeSwitch } from './theme-switch.ts';
import { setUpTryForms } from './try-it.ts';

setUpTabs();
setUpThemeSwitch();
setUpCopying();
setUpSearch();
setUpReaderKey();
setUpTryForms();

const current = document.querySelector('#navigation [aria-current]');
const list = document.querySelector('#navigation');
if (current && list)
  list.scrollTop = Math.max(0, current.getBoundingClientRect().top - list.clientHeight / 2);
