import { encodingOf } from '../../../../../core/link-imports/text-form.ts';

/** Bytes of all files of one import; the command takes more. */
const FILES_LIMIT = 3_900_000;

/** A file as it is sent. */
export type SentFile = { name: string; text: string };

/** Reads the chosen files. @throws Error whose message is for the person */
export async function readFiles(files: readonly File[]): Promise<SentFile[]> {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > FILES_LIMIT) {
    throw new Error(
      'The files are larger than 3.9 MB. Import fewer at a time, partners first, or use the command hoplog import referrals.',
    );
  }
  return Promise.all(
    files.map(async (file) => {
      const content = new Uint8Array(await file.arrayBuffer());
      const text = new TextDecoder(encodingOf(content)).decode(content);
      if (text.trim() === '') throw new Error(`The file ${file.name} is empty.`);
      if (text.includes('\0')) throw new Error(`The file ${file.name} is not text. Export it as CSV.`);
      return { name: file.name, text };
    }),
  );
}
