/** The section `upstream_addresses`, and what of an address can be judged before anyone connects to it. */

import { isIP } from 'node:net';
import type * as z from 'zod';
import { type AddressRule, createAddressRule } from '../../../lib/addresses/address-rule.ts';
import type { Path } from '../../read/faults.ts';
import { managerOf } from '../../store/resources.ts';
import { addressList, is, mapping } from '../fields.ts';

export const upstreamAddressesSchema = mapping({
  allow: addressList()
    .default([])
    .meta(is('Ranges admitted beyond the standard, such as `100.64.0.0/10`.', { kind: 'list of addresses' })),
  deny: addressList()
    .default([])
    .meta(is('Ranges refused, whatever else is said.', { kind: 'list of addresses' })),
});

export function toAddressRule({ allow, deny }: z.output<typeof upstreamAddressesSchema>): AddressRule {
  return createAddressRule({ allow, deny });
}

/** What the file declares is the operator's, and goes anywhere. */
export function addressRuleFor(path: Path, rule: AddressRule): AddressRule | undefined {
  return managerOf(path) === 'store' ? rule : undefined;
}

/** What is wrong with an address that needs no look-up; where a name leads is seen when it is connected to. */
export function literalFault(rule: AddressRule | undefined, { hostname }: URL): string | undefined {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  if (rule === undefined || isIP(address) === 0 || rule.permits(address)) return undefined;
  return `leads to ${address}, which is not allowed for upstreams of the store; write another address, or have the operator admit it with upstream_addresses.allow in the configuration file`;
}
