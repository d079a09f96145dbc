import fastJson from 'fast-json-stringify';
import type { Api } from '../dependencies.ts';
import { compiledLater } from './compiled-later.ts';

/** Answers are written by their schemas, as Fastify does by itself; a schema is compiled for its first answer. */
export function addSerialization(app: Api): void {
  app.setSerializerCompiler<fastJson.Schema>(({ schema }) => {
    const stringify = compiledLater(() => fastJson(schema));
    return (answer: unknown) => stringify()(answer);
  });
}
