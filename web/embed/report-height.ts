import { HEIGHT_MESSAGE, type HeightMessage } from './height-message.ts';

/**
 * Tells the embedding page how high the content is, now and whenever that changes. To any origin: a height is no
 * secret, and whose page this is in is not known.
 */
export function reportHeight(): void {
  let told = 0;
  const tell = () => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height === told || height === 0) return;
    told = height;
    const message: HeightMessage = { type: HEIGHT_MESSAGE, height };
    window.parent.postMessage(message, '*');
  };
  new ResizeObserver(tell).observe(document.documentElement);
  // A host that began to listen late hears it too.
  window.addEventListener('load', () => {
    told = 0;
    tell();
  });
}
