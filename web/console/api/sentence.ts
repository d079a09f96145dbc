import { fieldError, messageOf } from './failures.ts';

/** A message of the API as a sentence; put the field's name before a field's message. */
export function sentence(message: string): string {
  const plain = message.replace(/^`([\w.]+)` /, '$1 ');
  const text = `${plain.charAt(0).toUpperCase()}${plain.slice(1)}`;
  return text.endsWith('.') ? text : `${text}.`;
}

/** A failure's message as a sentence. */
export const sentenceOf = (error: unknown) => sentence(messageOf(error));

/**
 * What a failure says about one field of a form, as a sentence, or null.
 *
 * @param path as the API names it
 * @param name the field, at the beginning of the sentence
 */
export function fieldSentence(error: unknown, path: string, name = ''): string | null {
  const message = fieldError(error, path);
  return message === null ? null : sentence(`${name} ${message}`.trim());
}
