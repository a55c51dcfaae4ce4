/** An upstream's family options by name, defaults included; `base64` is the upstream's own setting. */
export type Options = Readonly<Record<string, string>>;
