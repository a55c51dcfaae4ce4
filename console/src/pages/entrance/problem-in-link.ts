/** What the identity provider's way ended with: it stands in the fragment, which no log holds. */

export function problemInLink(): string | undefined {
  return new URLSearchParams(location.hash.slice(1)).get('problem') ?? undefined;
}
