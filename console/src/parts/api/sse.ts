/** Parses server-sent events from chunks of text. */

export interface SseReader {
  /** Adds a chunk; returns the data of the events that are complete now. */
  push(text: string): string[];
}

export function createSseReader(): SseReader {
  let line = '';
  let data: string[] = [];
  let endedWithReturn = false;
  let isFirst = true;

  function take(finished: string, events: string[]): void {
    if (finished === '') {
      if (data.length > 0) events.push(data.join('\n'));
      data = [];
      return;
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/su.exec(finished) ?? [];
    if (name === 'data') data.push(value);
  }

  return {
    push(text) {
      const events: string[] = [];
      // A line may end in CR LF, split between two chunks.
      let rest = endedWithReturn && text.startsWith('\n') ? text.slice(1) : text;
      if (text !== '') endedWithReturn = text.endsWith('\r');
      if (isFirst && rest !== '') {
        isFirst = false;
        rest = rest.replace(/^\uFEFF/u, '');
      }
      const lines = rest.split(/\r\n|\n|\r/u);
      const unfinished = lines.pop() ?? '';
      for (const one of lines) {
        take(line + one, events);
        line = '';
      }
      line += unfinished;
      return events;
    },
  };
}
