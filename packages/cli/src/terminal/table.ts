import { cleanLine } from './clean-text.ts'
import type { Paint, Style } from './colors.ts'
import { pad, truncate, widthOf, wrap } from './width.ts'

export type Cell = string | number | null | undefined | { readonly text: string; readonly style: Style }

export interface Column {
  readonly title: string
  readonly align?: 'right'
  /** May be cut off with … when the terminal is narrow. */
  readonly shrinks?: true
  /** May be left out when the terminal is narrow; the highest number first. */
  readonly leftOut?: number
}

interface Layout {
  /** Undefined where the output is not a terminal: then nothing is cut off. */
  readonly width: number | undefined
  readonly paint: Paint
}

const GAP = '  '
const NARROWEST = 10
/** Columns are left out before one that shrinks becomes narrower than this. */
const READABLE = 20

const textOf = (cell: Cell): string =>
  cleanLine(typeof cell === 'object' && cell !== null ? cell.text : String(cell ?? '-'))
const styleOf = (cell: Cell): Style | undefined =>
  typeof cell === 'object' && cell !== null ? cell.style : undefined

/**
 * The lines of a table. Where the columns do not fit side by side, some are left out, which the last line says. Where that is
 * not enough, each row becomes a block of lines.
 */
export function tableLines(
  all: readonly Column[],
  allRows: readonly (readonly Cell[])[],
  { width, paint }: Layout,
): string[] {
  const fitting = fitColumns(all, allRows, width)
  if (fitting === undefined) return blocks(all, allRows, { width, paint })
  const { shown, widths } = fitting
  const columns = all.filter((_, at) => shown.includes(at))
  const rows = allRows.map((row) => shown.map((at) => row[at]))
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
    ...(width === undefined || shown.length === all.length
      ? []
      : wrap(hiddenNote(all, shown), width).map((line) => paint('dim', line))),
  ]
}

function hiddenNote(all: readonly Column[], shown: readonly number[]): string {
  const hidden = all.filter((_, at) => !shown.includes(at)).map(({ title }) => title.toLowerCase())
  return `A wider terminal also shows: ${hidden.join(', ')}. --json shows everything.`
}

/** Which columns are shown, by their position, and how wide each is; undefined when they cannot fit. */
function fitColumns(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  width: number | undefined,
): { readonly shown: readonly number[]; readonly widths: readonly number[] } | undefined {
  const natural = columns.map(({ title }, at) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(textOf(row[at])))),
  )
  let shown = columns.map((_, at) => at)
  if (width === undefined) return { shown, widths: natural }
  const tryWidths = (narrowest: number) =>
    shrink(
      shown.map((at) => columns[at]?.shrinks === true),
      shown.map((at) => natural[at] ?? 0),
      { width, narrowest },
    )
  for (;;) {
    const widths = tryWidths(READABLE)
    if (widths !== undefined) return { shown, widths }
    const next = shown.toSorted((a, b) => (columns[b]?.leftOut ?? 0) - (columns[a]?.leftOut ?? 0))[0]
    if (next === undefined || columns[next]?.leftOut === undefined) break
    shown = shown.filter((at) => at !== next)
  }
  const widths = tryWidths(NARROWEST)
  return widths && { shown, widths }
}

/** Takes space from the widest column that may shrink; undefined when they cannot fit. */
function shrink(
  shrinks: readonly boolean[],
  natural: readonly number[],
  { width, narrowest }: { readonly width: number; readonly narrowest: number },
): readonly number[] | undefined {
  const widths = [...natural]
  const total = () => widths.reduce((sum, one) => sum + one, GAP.length * (widths.length - 1))
  while (total() > width) {
    let widest = -1
    shrinks.forEach((isAllowed, at) => {
      const own = widths[at] ?? 0
      if (isAllowed && own > narrowest && (widest === -1 || own > (widths[widest] ?? 0))) widest = at
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
