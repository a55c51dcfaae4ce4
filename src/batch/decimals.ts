/** Adds and divides decimals of JSON texts without losing a digit. */

interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** Limit of a number's length; a longer one is no count. */
const mostDigits = 40;

/** Parses a decimal; zero where the text is no usable number. */
function toDecimal(source: string): Decimal {
  const match = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/.exec(source);
  if (match === null || source.length > mostDigits) return { units: 0n, scale: 0 };
  const [, whole = '0', fraction = '', exponent = '0'] = match;
  const scale = fraction.length - Number(exponent);
  const units = BigInt(whole + fraction);
  return scale < 0 ? { units: units * 10n ** BigInt(-scale), scale: 0 } : { units, scale };
}

function toSource({ units, scale }: Decimal): string {
  if (scale === 0) return String(units);
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const fraction = digits.slice(-scale).replace(/0+$/, '');
  const whole = `${units < 0n ? '-' : ''}${digits.slice(0, -scale)}`;
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

const unitsAt = ({ units, scale }: Decimal, wanted: number): bigint => units * 10n ** BigInt(wanted - scale);

export function sumOf(sources: readonly string[]): string {
  const [first = '0', ...others] = sources;
  if (others.length === 0) return first;
  const decimals = sources.map(toDecimal);
  const scale = Math.max(...decimals.map((one) => one.scale));
  return toSource({ units: decimals.reduce((sum, one) => sum + unitsAt(one, scale), 0n), scale });
}

/** Divides a number in proportion to positive whole weights. The shares add up to the number; the first ones get what remains over. */
export function sharesOf(source: string, weights: readonly number[]): string[] {
  if (weights.length === 1) return [source];
  const { units, scale } = toDecimal(source);
  const total = BigInt(weights.reduce((sum, one) => sum + one, 0));
  if (total === 0n) return weights.map(() => '0');
  const shares = weights.map((weight) => (units * BigInt(weight)) / total);
  let rest = units - shares.reduce((sum, one) => sum + one, 0n);
  const step = rest < 0n ? -1n : 1n;
  const byRest = weights
    .map((weight, index) => ({ index, left: (units * BigInt(weight)) % total }))
    .toSorted((a, b) => Number(step * (b.left - a.left)) || a.index - b.index);
  for (const { index } of byRest) {
    if (rest === 0n) break;
    shares[index] = (shares[index] ?? 0n) + step;
    rest -= step;
  }
  return shares.map((one) => toSource({ units: one, scale }));
}
