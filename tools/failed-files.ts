/** A reporter for `node --test`: the file of each test that fails, one a line, as soon as it does. */

import type { TestEvent } from 'node:test/reporters';

export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type === 'test:fail') yield `${event.data.file ?? ''}\n`;
  }
}
