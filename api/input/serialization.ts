import fastJson from 'fast-json-stringify';
import type { Api } from '../dependencies.ts';
import { compileOnFirstUse } from './compile-on-first-use.ts';

const serializers = compileOnFirstUse<(answer: unknown) => string>();

/** Serializes responses by their schemas, each compiled at its first response. */
export function addSerialization(app: Api): void {
  app.setSerializerCompiler<fastJson.Schema>(({ schema }) => {
    const stringify = serializers(schema, () => fastJson(schema));
    return (answer: unknown) => stringify()(answer);
  });
}
