import { hueOf, initialsOf } from '../app/initials.ts'
import type { PictureFacts } from './facts.ts'
import { drawable, type Typeface, wrap } from './layout.ts'

/** The size that sites ask for in link previews. */
export const PICTURE = { width: 1_200, height: 630 } as const

export interface Typefaces {
  readonly regular: Typeface
  readonly bold: Typeface
}

const LEFT = 84
const WIDTH = PICTURE.width - 2 * LEFT

/** The dark colours of the tokens, which the drawing library does not compute. */
const PAGE = '#0b0d12'
const LINE = '#282c34'
const TEXT = '#eef0f3'
const MUTED = '#a5abb5'
const ACCENT = '#8ca4ff'

const BOLD = 'font-family="Geist SemiBold"'

/** A picture for link previews as SVG. Whatever users wrote, it has the same size and stays within its edges. */
export function pictureOf(facts: PictureFacts, { regular, bold }: Typefaces): string {
  const { kind, figures, by } = facts
  const title = drawable(bold, facts.title) ?? facts.otherTitle
  const [large, small] = [
    { size: 76, width: WIDTH, lines: 2 },
    { size: 60, width: WIDTH, lines: 3 },
  ]
  const isLong = wrap(bold, title, { ...large, lines: 3 }).length > 2
  const { size } = isLong ? small : large
  const lines = wrap(bold, title, isLong ? small : large)
  const name = by === undefined || kind === 'Agent' ? undefined : drawable(regular, by.name)
  const step = size * 1.14
  const top = 310 - ((lines.length - 1) * step) / 2 - (by === undefined ? 0 : 30)
  const under = top + (lines.length - 1) * step
  const column = WIDTH / Math.max(figures.length, 1)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${PICTURE.width}" height="${PICTURE.height}" font-family="Geist">
<rect width="100%" height="100%" fill="${PAGE}"/>
<rect width="100%" height="8" fill="${ACCENT}"/>
<g transform="translate(${LEFT} 66) scale(2)">${LOGO}</g>
<text x="${LEFT + 66}" y="102" ${BOLD} font-size="34" fill="${TEXT}">Agent Market</text>
${kind === undefined ? '' : `<text x="${PICTURE.width - LEFT}" y="102" text-anchor="end" font-size="30" fill="${MUTED}">${kind}</text>`}
${lines.map((line, at) => `<text x="${LEFT}" y="${(top + at * step).toFixed(1)}" ${BOLD} font-size="${size}" letter-spacing="-1" fill="${TEXT}">${escaped(line)}</text>`).join('\n')}
${by === undefined ? '' : avatar(by, under + 38, name === undefined ? '' : wrap(regular, name, { size: 34, width: WIDTH - 80, lines: 1 })[0])}
<rect x="${LEFT}" y="478" width="${WIDTH}" height="2" fill="${LINE}"/>
${figures
  .map(([label, value], at) => {
    const x = LEFT + at * column
    const [shown = ''] = wrap(bold, value, { size: 40, width: column - 24, lines: 1 })
    return `<text x="${x}" y="526" font-size="26" fill="${MUTED}">${escaped(label)}</text><text x="${x}" y="576" ${BOLD} font-size="40" fill="${TEXT}">${escaped(shown)}</text>`
  })
  .join('\n')}
</svg>`

  function avatar({ id, name: full }: { readonly id: string; readonly name: string }, y: number, text = '') {
    const initials = drawable(bold, initialsOf(full)) ?? ''
    return `<rect x="${LEFT}" y="${y}" width="56" height="56" rx="12" fill="${colourOf(hueOf(id))}"/>
<text x="${LEFT + 28}" y="${y + 37}" text-anchor="middle" ${BOLD} font-size="24" fill="#ffffff">${escaped(initials)}</text>
<text x="${LEFT + 76}" y="${y + 40}" font-size="34" fill="${MUTED}">${escaped(text)}</text>`
  }
}

const LOGO = `<circle cx="9" cy="12" r="7" fill="none" stroke="${TEXT}" stroke-width="1.8"/><circle cx="15" cy="12" r="7" fill="none" stroke="${TEXT}" stroke-width="1.8"/><path fill="${ACCENT}" d="M12 6.4a7 7 0 0 1 0 11.2 7 7 0 0 1 0-11.2z"/>`

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** `oklch(0.5 0.13 hue)` as a colour that the drawing library reads. */
function colourOf(hue: number): string {
  const [lightness, chroma, angle] = [0.5, 0.13, (hue * Math.PI) / 180]
  const [a, b] = [chroma * Math.cos(angle), chroma * Math.sin(angle)]
  const [l, m, s] = [
    (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3,
    (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3,
    (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3,
  ]
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ]
  const parts = linear.map((part) => {
    const bounded = Math.min(1, Math.max(0, part))
    const shown = bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * bounded ** (1 / 2.4) - 0.055
    return Math.round(shown * 255)
      .toString(16)
      .padStart(2, '0')
  })
  return `#${parts.join('')}`
}
