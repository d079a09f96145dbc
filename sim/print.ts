const CLICK = /^(.*?)c(\d+) (written|lost)$/;

/**
 * Returns a printer of lines that joins the responses to neighboring clicks in one line. `flush` prints the pending
 * line.
 *
 * @param print prints one line
 */
export function groupingPrinter(print: (line: string) => void): { print(line: string): void; flush(): void } {
  let waiting: { head: string; first: number; last: number; outcome: string } | null = null;

  function flush(): void {
    if (!waiting) return;
    const { head, first, last, outcome } = waiting;
    print(first === last ? `${head}c${first} ${outcome}` : `${head}c${first} to c${last} ${outcome}`);
    waiting = null;
  }

  return {
    flush,
    print(line) {
      const [, head = '', number, outcome = ''] = CLICK.exec(line) ?? [];
      if (number === undefined) {
        flush();
        print(line);
        return;
      }
      const click = Number(number);
      if (waiting?.head === head && waiting.outcome === outcome && waiting.last + 1 === click) {
        waiting.last = click;
        return;
      }
      flush();
      waiting = { head, first: click, last: click, outcome };
    },
  };
}
