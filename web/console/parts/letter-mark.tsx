/**
 * The first letter of a name as a mark before it, such as of a referrer's host. Its icon would have to be requested
 * from that site, and anyone could make the service do so: a visitor says where they come from.
 */
export const LetterMark = ({ name }: { name: string }) => (
  // Drawn by CSS: it is not part of the row's text.
  <span
    className="letter-mark"
    aria-hidden="true"
    data-letter={(/[\p{L}\p{N}]/u.exec(name.replace(/^www\./, ''))?.[0] ?? '–').toUpperCase()}
  />
);
