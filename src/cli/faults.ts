/** Prints the faults of a configuration, one line each with its location. */

interface Faulty {
  readonly file: string | undefined;
  readonly faults: readonly {
    /** Where it stands, if not in the file. */
    readonly place?: string;
    readonly path: string;
    readonly line?: number;
    readonly message: string;
  }[];
}

export function printFaults({ file, faults }: Faulty, print: (line: string) => void): void {
  for (const { place: elsewhere, path, line, message } of faults) {
    const place = [elsewhere ?? file ?? 'configuration', ...(line === undefined ? [] : [String(line)])].join(':');
    print(path === '' ? `${place}  ${message}` : `${place}  ${path}  ${message}`);
  }
}
