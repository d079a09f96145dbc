/** Offers content to the person as a file. @param name with its ending */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  // Some browsers read it after the click has been handled.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
