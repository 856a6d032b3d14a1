import { cleanJson, cleanLine, cleanText } from './clean-text.ts'
import { type Paint, painter, type Style, usesColors } from './colors.ts'
import { type Cell, type Column, fieldLines, tableLines } from './table.ts'
import { canRedraw, ERASE_LINE, type Terminal } from './terminal.ts'
import { pad, widthOf, wrap } from './width.ts'

/** The result of one check, with what to do about it. */
export interface Check {
  readonly result: 'ok' | 'warning' | 'FAILED' | 'skipped'
  readonly check: string
  readonly detail: string
  readonly next?: string | undefined
}

const RESULT_STYLES: Readonly<Record<Check['result'], Style>> = {
  ok: 'green',
  warning: 'yellow',
  FAILED: 'red',
  skipped: 'dim',
}

export type Printer = ReturnType<typeof printerOf>

/** Everything that is printed goes through here: texts of others are cleaned before they are coloured. */
export function printerOf(terminal: Terminal, environment: Readonly<Record<string, string | undefined>>) {
  const paint = painter(usesColors(environment, terminal.outIsTerminal))
  const paintError = painter(usesColors(environment, terminal.errorIsTerminal))
  const eraser = canRedraw(terminal, environment) ? ERASE_LINE : ''
  const lines = (all: readonly string[]) => terminal.out(all.map((line) => `${line}\n`).join(''))
  const layout = (): { width: number | undefined; paint: Paint } => ({ width: terminal.columns(), paint })
  return {
    /** A sentence, or several lines of text. */
    text: (text: string, style?: Style) =>
      lines(
        cleanText(text)
          .split('\n')
          .map((line) => paint(style, line)),
      ),
    table: (columns: readonly Column[], rows: readonly (readonly Cell[])[]) =>
      lines(tableLines(columns, rows, layout())),
    fields: (fields: readonly (readonly [string, Cell])[]) => lines(fieldLines(fields, layout())),
    /** Two columns of help: what to write, and what it does. */
    entries: (entries: readonly (readonly [string, string])[]) => lines(entryLines(entries, layout())),
    checks: (checks: readonly Check[]) => lines(checkLines(checks, layout())),
    /** A command that usually comes next. */
    next: (command: string) => lines([`${paint('dim', 'next')}  ${paint('cyan', cleanLine(command))}`]),
    json: (value: unknown) => terminal.out(`${cleanJson(value, 2)}\n`),
    jsonLine: (value: unknown) => terminal.out(`${cleanJson(value)}\n`),
    /** On stderr, beside the result. */
    note: (text: string, style: 'dim' | 'plain' = 'dim') =>
      terminal.error(`${eraser}${paintError(style === 'dim' ? style : undefined, cleanText(text))}\n`),
    error: (text: string, details: readonly (readonly [string, string])[]) => {
      terminal.error(`${paintError('red', 'error')}  ${cleanText(text)}\n`)
      for (const [name, value] of details)
        terminal.error(
          `${paintError('dim', pad(name, 5))}  ${paintError(name === 'next' ? 'cyan' : undefined, cleanLine(value))}\n`,
        )
    },
    errorJson: (value: unknown) => terminal.error(`${cleanJson(value)}\n`),
  }
}

interface Layout {
  readonly width: number | undefined
  readonly paint: Paint
}

function checkLines(checks: readonly Check[], { width, paint }: Layout): string[] {
  const nameWidth = Math.max(0, ...checks.map(({ check }) => widthOf(cleanLine(check))))
  const indent = 8 + 1 + nameWidth + 2
  // A narrow terminal gets the details on lines of their own.
  const isNarrow = width !== undefined && width - indent < 30
  const room = width === undefined ? Number.POSITIVE_INFINITY : isNarrow ? width - 9 : width - indent
  const wrapped = (text: string) => (room === Number.POSITIVE_INFINITY ? [text] : wrap(text, room))
  return checks.flatMap(({ result, check, detail, next }) => {
    const start = `${paint(RESULT_STYLES[result], result.padEnd(8))} `
    const name = cleanLine(check)
    const details = wrapped(cleanLine(detail))
    const more = next === undefined ? [] : [paint('cyan', `→ ${cleanLine(next)}`)]
    if (isNarrow) return [start + name, ...[...details, ...more].map((line) => ' '.repeat(9) + line)]
    const [first = '', ...others] = details
    return [
      `${start}${pad(name, nameWidth)}  ${first}`.trimEnd(),
      ...[...others, ...more].map((line) => ' '.repeat(indent) + line),
    ]
  })
}

function entryLines(
  entries: readonly (readonly [string, string])[],
  { width = 100, paint }: Layout,
): string[] {
  const longest = Math.max(...entries.map(([name]) => widthOf(name)))
  const nameWidth = Math.min(longest, Math.max(16, Math.floor(width / 2)))
  return entries.flatMap(([name, meaning]) => {
    const described = wrap(meaning, width - nameWidth - 4)
    const own = widthOf(name) > nameWidth
    const indent = ' '.repeat(nameWidth + 4)
    if (own) return [`  ${paint('bold', name)}`, ...described.map((line) => indent + line)]
    return described.map((line, at) =>
      at === 0 ? `  ${paint('bold', pad(name, nameWidth))}  ${line}`.trimEnd() : indent + line,
    )
  })
}
