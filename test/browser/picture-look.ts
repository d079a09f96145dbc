/**
 * Runs in the page, and returns what a picture of it shows: its headings, controls, and the styles in use. Without rows
 * of tables and lists, and without digits: they are of the day. Pixels would differ between machines, whose fonts
 * differ.
 */
export const LOOK = `(() => {
  const shown = (color) => (/^rgba\\(.*, 0\\)$/.test(color) ? '-' : color.replaceAll(' ', ''));
  const isSeen = (one) => one.getClientRects().length > 0 && one.getBoundingClientRect().top < innerHeight;
  const isOfData = (one) => one.closest('tbody, main li, main ol, svg, canvas, .time-chart, .problem-badge') !== null;
  const seen = [...document.querySelectorAll('body *')].filter((one) => isSeen(one) && !isOfData(one));
  const words = (one) => (one.getAttribute('aria-label') ?? one.innerText ?? one.placeholder ?? '')
    .replace(/\\d[\\d.,:]*/g, '0').replace(/\\s+/g, ' ').replace(/\\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\\b/g, 'Mon').trim();
  const NAMED = 'h1, h2, h3, h4, button, a, input, select, textarea, th, label, [role=tab]';
  const controls = seen.filter((one) => one.matches(NAMED)).map((one) => one.tagName.toLowerCase() + ' ' + words(one));
  const styleOf = (one) => {
    const style = getComputedStyle(one);
    return [
      one.tagName.toLowerCase(), 'text:' + shown(style.color), 'ground:' + shown(style.backgroundColor),
      'font:' + style.fontSize + '/' + style.fontWeight, 'padding:' + style.padding, 'radius:' + style.borderRadius,
    ].join(' ');
  };
  const styles = [...new Set(seen.filter((one) => one.matches(NAMED + ', nav, header, section')).map(styleOf))].sort();
  return [...controls, '', ...styles, ''].join('\\n');
})()`;
