/** Counts the images in a response while it is relayed, and reads their size and quality. */

import type { Buffer } from 'node:buffer';
import type { Pictures, Written } from '../../core/accounting/usage.ts';
import { JsonPicker, type Picked } from '../../lib/json/json-picker.ts';
import type { TextReader } from './written-text.ts';

const LINE_FEED = 0x0a;

const sizeAndQuality = ['size', 'quality'] as const;
/** Where a whole answer lists its images: as bytes or as URLs. */
const ofWhole = ['data.*.b64_json', 'data.*.url'];
/** Where a stream has the type of an event: that of an image's last event differs from those of intermediate ones. */
const ofEvents = ['type'];
const lastEvent = /\.completed$/;

const noText: Written = Object.freeze({ texts: 0, bytes: 0, sample: '', choices: 0 });

export class PictureReader implements TextReader {
  readonly #isStream: boolean;
  readonly #picker: JsonPicker;
  #count = 0;
  #size: string | undefined;
  #quality: string | undefined;

  constructor(isStream: boolean) {
    this.#isStream = isStream;
    this.#picker = new JsonPicker(
      [...(isStream ? ofEvents : ofWhole), ...sizeAndQuality],
      'long ones without their text',
    );
  }

  push(chunk: Buffer): void {
    const picked: Picked[] = [];
    let start = 0;
    // An event is one line, and its data one document.
    while (this.#isStream) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end === -1) break;
      this.#picker.push(chunk, picked, start, end);
      this.#picker.reset();
      start = end + 1;
    }
    this.#picker.push(chunk, picked, start);
    for (const one of picked) this.#take(one);
  }

  #take({ path, text }: Picked): void {
    if (path === 'size') this.#size = text;
    else if (path === 'quality') this.#quality = text;
    else if (!this.#isStream || lastEvent.test(text)) this.#count += 1;
  }

  pictures(): Pictures | undefined {
    return this.#count === 0 ? undefined : { count: this.#count, size: this.#size, quality: this.#quality };
  }

  written(): Written {
    return noText;
  }
}
