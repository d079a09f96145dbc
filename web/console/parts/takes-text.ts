/** Types of `input` that hold no text: in them, only Space and the arrow keys have a meaning. */
const WITHOUT_TEXT = ['checkbox', 'radio', 'range', 'color', 'file', 'image', 'button', 'submit', 'reset'];
const FIELDS = [
  `input:not(${WITHOUT_TEXT.map((type) => `[type="${type}"]`).join(', ')})`,
  'textarea',
  'select',
  '[contenteditable]',
].join(', ');

/** Returns whether letters, pastes and Ctrl Z belong to the element: it is in a field. */
export const takesText = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(FIELDS) !== null;
