import fastJson from 'fast-json-stringify';
import type { Api } from '../dependencies.ts';
import { compiledLater } from './compiled-later.ts';

/** Serializes responses by their schemas, each compiled at its first response. */
export function addSerialization(app: Api): void {
  app.setSerializerCompiler<fastJson.Schema>(({ schema }) => {
    const stringify = compiledLater(() => fastJson(schema));
    return (answer: unknown) => stringify()(answer);
  });
}
