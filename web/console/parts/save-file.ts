/** Downloads content as a file. @param name with extension */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  // Some browsers read the URL after the click handler.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
