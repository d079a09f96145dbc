import { createElement, Fragment } from 'preact';

export * from 'preact/compat';
export { default } from 'preact/compat';

/** What preact/compat lacks of React 19. What is hidden is not rendered at all, so it keeps no state. */
export const Activity = ({ mode, children }) =>
  mode === 'hidden' ? null : createElement(Fragment, null, children);
