/** Compiles at the first call, and answers every call with that: to compile all routes' schemas is a third of a start. */
export function compiledLater<T>(compile: () => T): () => T {
  let compiled: T | undefined;
  return () => {
    compiled ??= compile();
    return compiled;
  };
}
