import { takeParameters } from './address.ts';
import { attempt } from './attempt.ts';

/**
 * Takes our parameters out of the page's address, and keeps routers from bringing them back: they write the address
 * that they began with (Next on `refresh`, vue-router on `replace`).
 *
 * The prototype's method is called, because tools that count views replace the one of `history` itself.
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
