/** Returns whether a name is one mistake away from another: a letter wrong, added or missing, or two swapped. */
export function isTypingError(name: string, wanted: string): boolean {
  if (name === wanted) return true;
  if (Math.abs(name.length - wanted.length) > 1) return false;
  const at = [...wanted].findIndex((letter, index) => letter !== name[index]);
  const start = at < 0 ? wanted.length : at;
  const [rest, right] = [name.slice(start), wanted.slice(start)];
  return (
    rest.slice(1) === right.slice(1) ||
    rest.slice(1) === right ||
    rest === right.slice(1) ||
    (rest[0] === right[1] && rest[1] === right[0] && rest.slice(2) === right.slice(2))
  );
}
