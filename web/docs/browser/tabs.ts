import { element } from './elements.ts';

/** Maximum letters of all tab labels. With more, the tabs become a list to choose from. */
const LETTERS_AT_MOST = 40;
const STORED = 'hoplog-docs-';

type Group = { topic: string; panels: HTMLElement[]; show(label: string): void };

/** Shows one panel of each group at a time. A choice holds for all groups of its topic, and for later pages. */
export function setUpTabs(): void {
  const groups = [...document.querySelectorAll<HTMLElement>('[data-tabs]')].map(groupOf);
  const choose = (topic: string, label: string) => {
    localStorage.setItem(STORED + topic, label);
    for (const group of groups) if (group.topic === topic) group.show(label);
  };
  for (const [nth, section] of [...document.querySelectorAll<HTMLElement>('[data-tabs]')].entries()) {
    const group = groups[nth];
    if (!group || group.panels.length === 0) continue;
    const pick = (label: string) => (group.topic === '' ? group.show(label) : choose(group.topic, label));
    section.prepend(
      group.panels.map(labelOf).join('').length > LETTERS_AT_MOST
        ? chooser(group, pick)
        : tabList(group, pick),
    );
    section.dataset.ready = '';
    const labels = group.panels.map(labelOf);
    const stored = group.topic === '' ? null : localStorage.getItem(STORED + group.topic);
    group.show(labels.find((label) => label === stored) ?? labels[0] ?? '');
  }
}

const labelOf = (panel: HTMLElement): string => panel.dataset.tab ?? '';

function groupOf(section: HTMLElement): Group {
  const panels = [...section.querySelectorAll<HTMLElement>(':scope > [data-tab]')];
  return {
    topic: section.dataset.tabs ?? '',
    panels,
    show(label) {
      for (const panel of panels) panel.hidden = labelOf(panel) !== label;
      for (const tab of section.querySelectorAll<HTMLElement>('[role=tab]')) {
        const isChosen = tab.textContent === label;
        tab.setAttribute('aria-selected', String(isChosen));
        tab.tabIndex = isChosen ? 0 : -1;
      }
    },
  };
}

let lists = 0;

function tabList({ panels }: Group, pick: (label: string) => void): HTMLElement {
  lists += 1;
  const tabs = panels.map((panel, nth) => {
    const id = `tab-${lists}-${nth}`;
    panel.id ||= `panel-${lists}-${nth}`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', id);
    const tab = element(
      'button',
      { type: 'button', role: 'tab', id, 'aria-controls': panel.id },
      labelOf(panel),
    );
    tab.addEventListener('click', () => pick(labelOf(panel)));
    return tab;
  });
  const list = element('div', { role: 'tablist', class: 'tabs' }, ...tabs);
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const at = tabs.indexOf(document.activeElement as HTMLButtonElement);
    const next = tabs.at((at + step) % tabs.length);
    next?.click();
    next?.focus();
    event.preventDefault();
  });
  return list;
}

function chooser({ panels }: Group, pick: (label: string) => void): HTMLElement {
  const options = panels.map((panel) => element('option', {}, labelOf(panel)));
  const select = element('select', { 'aria-label': 'Example' }, ...options);
  select.addEventListener('change', () => pick(select.value));
  return element('div', { class: 'tabs' }, select);
}
