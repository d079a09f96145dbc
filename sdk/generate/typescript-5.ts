import { registerHooks } from 'node:module';

/**
 * Preloaded into the generator `@hey-api/openapi-ts`: it writes code with the compiler API of TypeScript 5, which
 * version 7, the one that checks this repository, does not have.
 */
registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== 'typescript') return next(specifier, context);
    return next('typescript-5', { ...context, parentURL: import.meta.url });
  },
});
