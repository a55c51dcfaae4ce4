/** A place that files can be dropped on. */

import { type DragEvent, useState } from 'react';

/** To be spread over the element; `data-over` while something hangs over it. */
export function useDrop(onFiles: (files: readonly File[]) => void) {
  const [isOver, setIsOver] = useState(false);
  return {
    'data-over': isOver || undefined,
    onDragOver(event: DragEvent) {
      // Else the browser opens the file instead of the page.
      event.preventDefault();
      setIsOver(true);
    },
    onDragLeave() {
      setIsOver(false);
    },
    onDrop(event: DragEvent) {
      event.preventDefault();
      setIsOver(false);
      onFiles([...event.dataTransfer.files]);
    },
  };
}
