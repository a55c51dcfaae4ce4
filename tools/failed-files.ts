/** A reporter for `node --test` that prints the file of each failing test at once. */

import type { TestEvent } from 'node:test/reporters';

export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type === 'test:fail') yield `${event.data.file ?? ''}\n`;
  }
}
