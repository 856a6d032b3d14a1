/** Literals of other languages for JSON values. */

function indented(lines: readonly string[], [open, close]: readonly [string, string], by: string): string {
  if (lines.length === 0) return `${open}${close}`
  return `${open}\n${lines.map((line) => `${by}${line.replaceAll('\n', `\n${by}`)},`).join('\n')}\n${close}`
}

const LIST = ['[', ']'] as const
const OBJECT = ['{', '}'] as const

export function typescriptOf(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return indented(value.map(typescriptOf), LIST, '  ')
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(
    ([key, field]) => `${/^[A-Za-z_]\w*$/.test(key) ? key : quoted(key)}: ${typescriptOf(field)}`,
  )
  return indented(fields, OBJECT, '  ')
}

const quoted = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

export function pythonOf(value: unknown): string {
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null) return 'None'
  if (Array.isArray(value)) return indented(value.map(pythonOf), LIST, '    ')
  if (typeof value !== 'object') return JSON.stringify(value)
  const fields = Object.entries(value).map(([key, field]) => `${JSON.stringify(key)}: ${pythonOf(field)}`)
  return indented(fields, OBJECT, '    ')
}

/** A word of a POSIX shell. */
export const shellOf = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
