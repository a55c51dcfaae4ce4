/** Finds the network by which a client's addresses are counted together: /64 for IPv6. */

/** The network of an address. A client with one IPv6 address usually controls its whole /64. */
export function toNetwork(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [head = '', tail = ''] = address.split('::', 2);
  const first = head.split(':').filter((group) => group !== '');
  const last = tail.split(':').filter((group) => group !== '');
  const groups = address.includes('::')
    ? [...first, ...Array(8 - first.length - last.length).fill('0'), ...last]
    : first;
  return groups.slice(0, 4).join(':');
}
