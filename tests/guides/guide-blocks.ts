import { readFileSync } from 'node:fs'

/** Run in one shell, in the order of the page. */
const RUN = ['sh', 'js', 'ts', 'python'] as const
/** Shown only. A response (`json`) directly after a command is compared with what the command printed. */
const SHOWN = ['http', 'json', 'mermaid', 'text'] as const

export interface Block {
  readonly kind: (typeof RUN | typeof SHOWN)[number]
  readonly text: string
  /** The line of its first fence. */
  readonly line: number
  /** The file that a program is saved as: the line before the block says `save as`. */
  readonly file: string | undefined
  /** Whether no text stands between it and the block before. */
  readonly isDirectlyAfter: boolean
}

const START = /^(npm ci\n)?npm run dev\n$/

export const readPage = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** The fenced blocks of a page. A fence of another kind, or a program without a file name, is an error. */
export function blocksOf(page: string, path: string): readonly Block[] {
  const lines = page.split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at++) {
    const [, indent = '', kind = ''] = /^(\s*)```(.*)$/.exec(lines[at] ?? '') ?? []
    if (!/^\s*```/.test(lines[at] ?? '')) continue
    const where = `${path}:${at + 1}`
    if (indent !== '') throw new Error(`${where}: a block must not be indented, so that it is run`)
    const end = lines.indexOf('```', at + 1)
    if (end === -1) throw new Error(`${where}: the block has no end`)
    blocks.push({ kind: kindOf(kind, where), ...contentOf(lines, at, end, kind, where) })
    at = end
  }
  return blocks
}

function kindOf(kind: string, where: string): Block['kind'] {
  const known = [...RUN, ...SHOWN].find((one) => one === kind)
  if (known !== undefined) return known
  throw new Error(`${where}: a block is one of ${[...RUN, ...SHOWN].join(', ')}, not "${kind}"`)
}

function contentOf(lines: readonly string[], at: number, end: number, kind: string, where: string) {
  const before = lines.slice(0, at).findLast((line) => line !== '') ?? ''
  const file = /[Ss]ave as `([\w.-]+)`:$/.exec(before)?.[1]
  if (isProgram(kind) !== (file !== undefined))
    throw new Error(
      `${where}: a program, and only a program, follows a line that ends with: save as \`name\`:`,
    )
  const text = `${lines.slice(at + 1, end).join('\n')}\n`
  return { text, line: at + 1, file, isDirectlyAfter: before === '```' }
}

const isProgram = (kind: string): boolean => kind !== 'sh' && RUN.some((one) => one === kind)

export const isRun = ({ kind }: Block): boolean => RUN.some((one) => one === kind)

/** The blocks after the first one, which starts the marketplace. */
export function afterStart(blocks: readonly Block[], path: string): readonly Block[] {
  const [first, ...others] = blocks.filter(({ kind }) => kind !== 'mermaid')
  if (first?.kind !== 'sh' || !START.test(first.text))
    throw new Error(`${path}: the first block must start the marketplace with npm run dev`)
  return others
}
