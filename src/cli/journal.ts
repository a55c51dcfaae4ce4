/** `postern journal show`: prints the records of the journal as lines of JSON, including those that the store already has. */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadConfiguration } from '../config/load.ts';
import { type ExitCode, UserFault } from '../core/user-fault.ts';
import { systemFiles } from '../journal/journal-files.ts';
import { ItemReader } from '../journal/journal-items.ts';
import { listSegments, openIfThere, type SegmentReader } from '../journal/journal-segment.ts';
import { idFile, listSlots } from '../journal/journal-slot.ts';
import { type CommandContext, commandOf, configUsage } from './command.ts';
import { faultless } from './output.ts';

export const journal = commandOf('journal', configUsage, run);

async function run(context: CommandContext): Promise<ExitCode> {
  const { positionals, cwd } = context;
  const [action, folder] = positionals;
  if (action !== 'show' || positionals.length > 2) throw new UserFault(`write it as "postern ${journal.usage}"`);
  if (folder !== undefined) {
    const path = resolve(cwd, folder);
    if (!existsSync(join(path, idFile))) {
      throw new UserFault(`"${path}" is no journal; name a folder in ledger.journal, such as data/journal/1000`);
    }
    show(path, context);
    return 0;
  }
  const loaded = faultless(await loadConfiguration(context));
  const directory = resolve(cwd, loaded.snapshot.ledger.directory);
  for (const slot of listSlots(directory)) show(join(directory, String(slot)), context);
  return 0;
}

function show(directory: string, context: CommandContext): void {
  for (const number of listSegments(directory, systemFiles)) {
    const segment = openIfThere(directory, number, systemFiles);
    if (segment === undefined) continue;
    try {
      showSegment(segment, context);
    } finally {
      segment.close();
    }
  }
}

function showSegment(segment: SegmentReader, { stdout, stderr, unread }: CommandContext): void {
  const items = new ItemReader();
  for (let offset: number | undefined = 0; offset !== undefined && unread?.aborted !== true; ) {
    const frame = segment.frameAt(offset);
    if (frame === undefined) {
      const { next, damagedBytes } = segment.tailAt(offset);
      if (damagedBytes > 0) {
        stderr(`postern: ${damagedBytes} bytes of segment ${segment.number}, from byte ${offset} on, cannot be read`);
      }
      offset = next;
      continue;
    }
    for (const record of items.read(frame)) {
      if (record === undefined) stderr(`postern: a record before byte ${frame.end} has names that cannot be read`);
      else stdout(typeof record === 'string' ? record : JSON.stringify(record));
    }
    offset = frame.end;
  }
}
