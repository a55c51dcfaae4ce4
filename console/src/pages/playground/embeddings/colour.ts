/** Computes the colours of the heat map: darker for higher values, with legible text. */

type Rgb = readonly [number, number, number];

const stops: readonly Rgb[] = [
  [240, 247, 244],
  [150, 216, 196],
  [38, 145, 137],
  [10, 58, 82],
];

/** Luminance above which black text is easier to read than white text. */
const darkTextFrom = 0.179;

/** The colours of a cell. `share`: from 0 for the lowest value to 1 for the highest. */
export function toColours(share: number): { readonly background: string; readonly text: string } {
  const rgb = mix(Math.max(0, Math.min(1, share)));
  return { background: `rgb(${rgb.join(' ')})`, text: luminance(rgb) > darkTextFrom ? '#000000' : '#ffffff' };
}

function mix(share: number): Rgb {
  const place = share * (stops.length - 1);
  const at = Math.min(Math.floor(place), stops.length - 2);
  const part = place - at;
  const between = (channel: 0 | 1 | 2): number => {
    const [from, to] = [stops[at]?.[channel] ?? 0, stops[at + 1]?.[channel] ?? 0];
    return Math.round(from + (to - from) * part);
  };
  return [between(0), between(1), between(2)];
}

/** The brightness of a colour by the formula of WCAG, the accessibility guidelines. */
export function luminance(rgb: Rgb): number {
  const [r = 0, g = 0, b = 0] = rgb.map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
