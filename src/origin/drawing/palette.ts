import type { Chance } from '../store/seed/chance.ts';

export interface Palette {
  /** The two ends of the background gradient. */
  from: string;
  to: string;
  /** For ornaments in front of the background. */
  accent: string;
  light: string;
  dark: string;
}

/** Matching colours, dark enough for light letters. */
export function paletteOf(chance: Chance): Palette {
  const hue = chance.int(360);
  const beside = (hue + chance.between(25, 60)) % 360;
  const across = (hue + chance.between(150, 210)) % 360;
  return {
    from: colour(hue, 42, chance.between(24, 34)),
    to: colour(beside, 48, chance.between(36, 46)),
    accent: colour(across, 68, chance.between(58, 66)),
    light: colour(hue, 30, 94),
    dark: colour(hue, 45, 14),
  };
}

/** As `#rrggbb`, because not every SVG viewer supports `hsl()`. */
function colour(hue: number, saturation: number, lightness: number): string {
  const strength = (saturation / 100) * Math.min(lightness / 100, 1 - lightness / 100);
  const channel = (n: number) => {
    const k = (n + hue / 30) % 12;
    const value = lightness / 100 - strength * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}
