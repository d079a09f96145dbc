import { HEIGHT_MESSAGE, type HeightMessage } from './height-message.ts';

/**
 * Reports the content's height to the embedding page, now and after each change. To any origin, because the host's
 * origin is unknown and a height is not secret.
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
  // The host may start to listen late.
  window.addEventListener('load', () => {
    told = 0;
    tell();
  });
}
