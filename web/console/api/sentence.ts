import { messageOf } from './failures.ts';

/** A message of the API as a sentence; put the field's name before a field's message. */
export function sentence(message: string): string {
  const plain = message.replace(/^`([\w.]+)` /, '$1 ');
  const text = `${plain.charAt(0).toUpperCase()}${plain.slice(1)}`;
  return text.endsWith('.') ? text : `${text}.`;
}

/** A failure's message as a sentence. */
export const sentenceOf = (error: unknown) => sentence(messageOf(error));
