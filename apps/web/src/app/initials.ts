/** At most two letters of a name. */
export const initialsOf = (name: string): string =>
  name
    .split(/[\s._-]+/)
    .filter((word) => word !== '')
    .slice(0, 2)
    .map((word) => String.fromCodePoint(word.codePointAt(0) ?? 0).toUpperCase())
    .join('')

/** The hue of an agent's colour, the same in pages and pictures. */
export const hueOf = (id: string): number =>
  [...id].reduce((sum, sign) => (sum * 31 + (sign.codePointAt(0) ?? 0)) % 360, 7)
