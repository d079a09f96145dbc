import { takeParameters } from './address.ts';
import { attempt } from './attempt.ts';

/**
 * Removes our parameters from the page's address, and keeps routers from restoring them: they write the address that
 * they started with (Next on `refresh`, vue-router on `replace`).
 *
 * It calls the prototype's method, because tools that count views replace the one of `history` itself.
 */
export const cleanAddress = (href: string): void => {
  attempt(() => History.prototype.replaceState.call(history, history.state, '', href));
  for (const name of ['pushState', 'replaceState'] as const) {
    attempt(() => {
      const write = history[name];
      history[name] = function (this: History, ...given: Parameters<typeof write>) {
        attempt(() => {
          given[2] = given[2] && takeParameters(`${given[2]}`).href;
        });
        return write.apply(this, given);
      };
    });
  }
};
