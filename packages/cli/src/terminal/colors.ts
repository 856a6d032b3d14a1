export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
}

export type Paint = (style: Style | undefined, text: string) => string

const ESCAPE = String.fromCharCode(27)

export const painter =
  (hasColors: boolean): Paint =>
  (style, text) => {
    if (!hasColors || style === undefined || text === '') return text
    const [on, off] = CODES[style]
    return `${ESCAPE}[${on}m${text}${ESCAPE}[${off}m`
  }

/** FORCE_COLOR counts before NO_COLOR, as in Node. */
export function usesColors(
  environment: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: none, TERM: term } = environment
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  if (none !== undefined && none !== '') return false
  return isTerminal && term !== 'dumb'
}
