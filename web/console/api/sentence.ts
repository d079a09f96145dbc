import { messageOf } from './failures.ts';

/** A message of the API as a sentence of its own; that of a field needs the field's name before it. */
export function sentence(message: string): string {
  const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
  return text.endsWith('.') ? text : `${text}.`;
}

/** What a person is told of a failure, as a sentence of its own. */
export const sentenceOf = (error: unknown) => sentence(messageOf(error));
