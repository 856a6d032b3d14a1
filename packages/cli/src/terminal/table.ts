import { cleanLine } from './clean-text.ts'
import type { Paint, Style } from './colors.ts'
import { pad, truncate, widthOf, wrap } from './width.ts'

export type Cell = string | number | null | undefined | { readonly text: string; readonly style: Style }

export interface Column {
  readonly title: string
  readonly align?: 'right'
  /** May be cut off with … when the terminal is narrow. */
  readonly shrinks?: true
}

interface Layout {
  /** Undefined where the output is not a terminal: then nothing is cut off. */
  readonly width: number | undefined
  readonly paint: Paint
}

const GAP = '  '
const NARROWEST = 10

const textOf = (cell: Cell): string =>
  cleanLine(typeof cell === 'object' && cell !== null ? cell.text : String(cell ?? '-'))
const styleOf = (cell: Cell): Style | undefined =>
  typeof cell === 'object' && cell !== null ? cell.style : undefined

/** The lines of a table. Where the columns do not fit side by side, each row becomes a block of lines. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  { width, paint }: Layout,
): string[] {
  const natural = columns.map(({ title }, at) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(textOf(row[at])))),
  )
  const widths = width === undefined ? natural : shrink(columns, natural, width)
  if (widths === undefined) return blocks(columns, rows, { width, paint })
  const lineOf = (cells: readonly (readonly [string, Style | undefined])[]): string =>
    cells
      .map(([text, style], at) => {
        const shown = truncate(text, widths[at] ?? 0)
        const isLast = at === cells.length - 1
        const align = columns[at]?.align
        const padded = isLast && align === undefined ? shown : pad(shown, widths[at] ?? 0, align)
        return paint(style, padded)
      })
      .join(GAP)
      .trimEnd()
  return [
    lineOf(columns.map(({ title }) => [title, 'bold'])),
    ...rows.map((row) => lineOf(columns.map((_, at) => [textOf(row[at]), styleOf(row[at])]))),
  ]
}

/** Takes columns away from the widest that may shrink; undefined when they cannot fit. */
function shrink(
  columns: readonly Column[],
  natural: readonly number[],
  width: number,
): readonly number[] | undefined {
  const widths = [...natural]
  const total = () => widths.reduce((sum, one) => sum + one, GAP.length * (widths.length - 1))
  while (total() > width) {
    let widest = -1
    columns.forEach(({ shrinks }, at) => {
      const own = widths[at] ?? 0
      if (shrinks && own > NARROWEST && (widest === -1 || own > (widths[widest] ?? 0))) widest = at
    })
    if (widest === -1) return undefined
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

function blocks(columns: readonly Column[], rows: readonly (readonly Cell[])[], layout: Layout): string[] {
  return rows.flatMap((row, number) => [
    ...(number === 0 ? [] : ['']),
    ...fieldLines(
      columns.map(({ title }, at) => [title, row[at]] as const),
      layout,
    ),
  ])
}

/** Names and values below each other. Long values continue under their beginning. */
export function fieldLines(fields: readonly (readonly [string, Cell])[], { width, paint }: Layout): string[] {
  const nameWidth = Math.max(...fields.map(([name]) => widthOf(name)))
  const room = width === undefined ? Number.POSITIVE_INFINITY : width - nameWidth - GAP.length
  return fields.flatMap(([name, cell]) => {
    const lines = room === Number.POSITIVE_INFINITY ? [textOf(cell)] : wrap(textOf(cell), room)
    return lines.map((line, at) =>
      `${paint('dim', pad(at === 0 ? name : '', nameWidth))}${GAP}${paint(styleOf(cell), line)}`.trimEnd(),
    )
  })
}
