/**
 * The first letter of a name as a mark before it, such as of a referrer's host. Its icon would have to be requested
 * from that site or a service, which would learn who looks at the dashboard.
 */
export const LetterMark = ({ name }: { name: string }) => (
  // Drawn by CSS: it is not part of the row's text.
  <span
    className="letter-mark"
    aria-hidden="true"
    data-letter={(/[\p{L}\p{N}]/u.exec(name.replace(/^www\./, ''))?.[0] ?? '–').toUpperCase()}
  />
);
