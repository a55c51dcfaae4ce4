/** Prints what speaks against a configuration: a line a fault, with the place where it stands. */

interface Faulty {
  readonly file: string | undefined;
  readonly faults: readonly {
    readonly path: string;
    readonly line?: number;
    readonly message: string;
  }[];
}

export function printFaults({ file, faults }: Faulty, print: (line: string) => void): void {
  for (const { path, line, message } of faults) {
    const place = [file ?? 'configuration', ...(line === undefined ? [] : [String(line)])].join(':');
    print(path === '' ? `${place}  ${message}` : `${place}  ${path}  ${message}`);
  }
}
