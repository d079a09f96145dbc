import type uPlot from 'uplot';

/** A line as the hover box shows it, at the n-th value. */
export type HoverLine = {
  label: string;
  color: string;
  isDashed: boolean;
  textAt: (n: number) => string;
  /** The line's own time, where it is not that of the chart. */
  noteAt: (n: number) => string;
};

/** Distance of the box from the pointer. Pixels. */
const GAP = 12;

/**
 * A box beside the pointer with the time, the value of each line, and what happened then.
 *
 * @param notesAt returns the texts of the n-th time
 */
export function hoverBox(
  timeAt: (n: number) => string,
  lines: readonly HoverLine[],
  notesAt: (n: number) => readonly string[] = () => [],
): uPlot.Plugin {
  const box = document.createElement('div');
  box.className = 'chart-hover';
  box.hidden = true;
  const title = element('div', 'chart-hover-time');
  const rows = lines.map(({ label, color, isDashed }) => {
    const row = element('div', 'chart-hover-line');
    const mark = element('span', 'chart-hover-mark');
    mark.style.borderTopColor = color;
    mark.style.borderTopStyle = isDashed ? 'dashed' : 'solid';
    const name = element('span', 'chart-hover-name');
    name.textContent = label;
    const value = element('span', 'chart-hover-value');
    row.append(mark, name, value);
    return { row, name, value, label };
  });
  const notes = element('div', 'chart-hover-notes');
  box.append(title, ...rows.map(({ row }) => row), notes);

  return {
    hooks: {
      init: (chart) => {
        chart.over.append(box);
        chart.over.addEventListener('mouseleave', () => {
          box.hidden = true;
        });
      },
      setCursor: (chart) => {
        const { idx, left = -1 } = chart.cursor;
        box.hidden = idx === null || idx === undefined || left < 0;
        if (idx === null || idx === undefined || left < 0) return;
        title.textContent = timeAt(idx);
        for (const [nth, { name, value, label }] of rows.entries()) {
          value.textContent = lines[nth]?.textAt(idx) ?? '';
          const note = lines[nth]?.noteAt(idx) ?? '';
          name.textContent = note === '' ? label : `${label} (${note})`;
        }
        notes.replaceChildren(
          ...notesAt(idx).map((text) => {
            const note = element('div', 'chart-hover-note');
            note.textContent = text;
            return note;
          }),
        );
        const { width } = chart.over.getBoundingClientRect();
        const isRight = left > width / 2;
        box.style.left = isRight ? '' : `${left + GAP}px`;
        box.style.right = isRight ? `${width - left + GAP}px` : '';
      },
    },
  };
}

/** Half the width of a mark's head. CSS pixels. */
const HEAD = 5;

/** Draws a dashed line with a head at each mark. @param color of CSS */
export function markLines(marks: readonly { index: number }[], color: string): uPlot.Plugin {
  return {
    hooks: {
      draw: ({ ctx, bbox, data, valToPos }) => {
        const { devicePixelRatio: ratio } = window;
        ctx.save();
        ctx.strokeStyle = color;
        ctx.fillStyle = color;
        ctx.lineWidth = ratio;
        ctx.setLineDash([2 * ratio, 3 * ratio]);
        for (const { index } of marks) {
          const x = Math.round(valToPos(data[0][index] ?? 0, 'x', true));
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
          ctx.beginPath();
          ctx.moveTo(x - HEAD * ratio, bbox.top);
          ctx.lineTo(x + HEAD * ratio, bbox.top);
          ctx.lineTo(x, bbox.top + HEAD * 1.4 * ratio);
          ctx.fill();
        }
        ctx.restore();
      },
    },
  };
}

function element(name: 'div' | 'span', className: string): HTMLElement {
  const made = document.createElement(name);
  made.className = className;
  return made;
}
