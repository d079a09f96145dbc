import { beginningOf, charactersOf, TITLE_MOST } from './character-limit.ts';
import { type Draft, replaced } from './draft.ts';

/** Limits of the API, in characters. */
export const ABOUT_MOST = 280;
export const LABEL_MOST = 80;

/** A text of the preview that can be edited: its element, and its value in the draft. */
type EditableText = {
  element: HTMLElement;
  name: string;
  most: number;
  hasLines: boolean;
  read: (draft: Draft) => string;
  write: (draft: Draft, text: string) => Partial<Draft>;
};

type Editing = {
  draft: () => Draft;
  change: (fields: Partial<Draft>) => void;
  /** Called while a text has the focus, and when none has it any more. */
  setActive: (isActive: boolean) => void;
};

/**
 * Lets a person edit the texts of a preview where they are: title, about text, labels, and headings. Enter ends it,
 * Escape sets the text back.
 *
 * @param page the preview's document, rendered from the draft
 */
export function editInPreview(page: Document, { draft, change, setActive }: Editing): void {
  const texts = textsOf(page, draft());
  const isOfText = (target: EventTarget | null) => texts.some(({ element }) => element === target);
  for (const { element, name, most, hasLines, read, write } of texts) {
    let before = { text: '', shown: '' };
    element.setAttribute('contenteditable', 'plaintext-only');
    element.title = `Edit the ${name}`;
    element.spellcheck = false;
    element.closest('a')?.setAttribute('draggable', 'false');
    element.addEventListener('click', (event) => event.preventDefault());
    element.addEventListener('focus', () => {
      before = { text: read(draft()), shown: element.textContent ?? '' };
      // A heading is shown with its emoji, a button without a label by its address.
      if (element.textContent?.trim() !== before.text.trim()) element.textContent = before.text;
      setActive(true);
    });
    element.addEventListener('blur', ({ relatedTarget }) => {
      if (read(draft()) === before.text) element.textContent = before.shown;
      if (!isOfText(relatedTarget)) setActive(false);
    });
    element.addEventListener('input', (event) => {
      const whole = typedInto(element);
      const typed = hasLines ? whole : whole.replaceAll(/\s*\n\s*/g, ' ');
      const isLong = charactersOf(typed) > most && !(event as InputEvent).isComposing;
      const text = isLong ? beginningOf(typed, most) : typed;
      if (isLong) {
        element.textContent = text;
        page.getSelection()?.selectAllChildren(element);
        page.getSelection()?.collapseToEnd();
      }
      change(write(draft(), text));
    });
    element.addEventListener('keydown', (event) => {
      if (event.isComposing) return;
      if (event.key === 'Escape') change(write(draft(), before.text));
      if (event.key !== 'Escape' && (event.key !== 'Enter' || hasLines)) return;
      event.preventDefault();
      element.blur();
    });
  }
}

/** The text of an element that is edited: browsers break its lines by elements, and keep spaces by another character. */
function typedInto(element: HTMLElement): string {
  const parts = [...element.childNodes].map((part) =>
    part.nodeName === 'BR' ? '\n' : (part.textContent ?? ''),
  );
  return parts.join('').replaceAll('\u00a0', ' ');
}

function textsOf(page: Document, draft: Draft): EditableText[] {
  const of = (selector: string) => page.querySelector<HTMLElement>(selector);
  const title = of('h1');
  const about = of('.bio');
  // A heading without a text is not shown.
  const buttons = draft.links.filter(
    ({ type, label, emoji }) => type === 'link' || label.trim() !== '' || emoji.trim() !== '',
  );
  const labels = [...page.querySelectorAll<HTMLElement>('.buttons > li')].flatMap((item, index) => {
    const button = buttons[index];
    const element = item.querySelector<HTMLElement>('.label, h2');
    return button && element ? [labelOf(button.id, button.type === 'link', element)] : [];
  });
  return [
    ...(title
      ? [
          {
            element: title,
            name: 'title',
            most: TITLE_MOST,
            hasLines: false,
            read: (now: Draft) => now.title,
            write: (_: Draft, text: string) => ({ title: text }),
          },
        ]
      : []),
    ...(about
      ? [
          {
            element: about,
            name: 'about text',
            most: ABOUT_MOST,
            hasLines: true,
            read: (now: Draft) => now.bio,
            write: (_: Draft, text: string) => ({ bio: text }),
          },
        ]
      : []),
    ...labels,
  ];
}

function labelOf(id: string, isLink: boolean, element: HTMLElement): EditableText {
  const placeIn = ({ links }: Draft) => links.findIndex((button) => button.id === id);
  return {
    element,
    name: isLink ? 'label' : 'heading',
    most: LABEL_MOST,
    hasLines: false,
    read: (draft) => draft.links[placeIn(draft)]?.label ?? '',
    write: (draft, text) => {
      const index = placeIn(draft);
      const button = draft.links[index];
      return button ? { links: replaced(draft.links, index, { ...button, label: text }) } : {};
    },
  };
}
