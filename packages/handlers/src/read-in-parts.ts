import type { NextCursor } from '@market/kernel/cursor'
import type { ByteBudget } from './byte-budget.ts'
import type { OpenPage } from './envelope.ts'

type Input = Readonly<Record<string, unknown>>

interface Part {
  readonly data: unknown
  readonly next_cursor: NextCursor
}

export type ReadPart = (input: Input) => Promise<Part>

/**
 * Fills a page by parts of `partRows` until its budget ends, so that long rows which nobody gets are not read. `read` must
 * accept `limit` and `cursor`.
 */
export async function readInParts(
  read: ReadPart,
  input: Input,
  { partRows }: Pick<ByteBudget, 'partRows'>,
  page: OpenPage,
): Promise<void> {
  const limit = Number(input['limit'])
  let rest: Input = input
  for (;;) {
    const left = limit - page.count
    const part = await read(partRows === undefined ? rest : { ...rest, limit: Math.min(partRows, left) })
    page.add(part)
    if (partRows === undefined || page.isFull || page.count >= limit) return
    const cursor = part.next_cursor((part.data as unknown[]).length)
    if (cursor === null) return
    rest = { ...input, cursor }
  }
}
