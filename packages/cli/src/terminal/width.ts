const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u
const WITHOUT_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u

const widthOfGrapheme = (grapheme: string): number =>
  WITHOUT_WIDTH.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1

/** The number of columns that a text without escape sequences takes. */
export function widthOf(text: string): number {
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += widthOfGrapheme(segment)
  return width
}

/** Ends with … when it is too long. */
export function truncate(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let cut = ''
  let used = 1
  for (const { segment } of graphemes.segment(text)) {
    used += widthOfGrapheme(segment)
    if (used > width) break
    cut += segment
  }
  return `${cut.trimEnd()}…`
}

export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const spaces = ' '.repeat(Math.max(0, width - widthOf(text)))
  return align === 'right' ? spaces + text : text + spaces
}

/** The lines of a text, broken at spaces. A word that is too long is broken too. */
export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, Math.max(width, 8)))
}

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = []
  let current = ''
  for (const word of line.split(' ')) {
    const joined = current === '' ? word : `${current} ${word}`
    if (widthOf(joined) <= width) {
      current = joined
      continue
    }
    if (current !== '') lines.push(current)
    current = word
    while (widthOf(current) > width) {
      const part = startOf(current, width)
      lines.push(part)
      current = current.slice(part.length)
    }
  }
  return [...lines, current]
}

function startOf(text: string, width: number): string {
  let part = ''
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    used += widthOfGrapheme(segment)
    if (used > width && part !== '') break
    part += segment
  }
  return part
}
