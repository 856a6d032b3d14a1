import { UsageError } from './usage-error.ts'

/** Options of every list. */
export const LIST_OPTIONS = {
  limit: { type: 'string', value: 'n', about: 'how many to show; 20 unless given' },
  all: { type: 'boolean', about: 'everything instead of the first page' },
} as const

const DEFAULT_LIMIT = 20

/** A whole number of an option. */
export function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} is ${text}. Write a whole number.`)
  return Number(text)
}

export function decimal(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,9}(\.\d{1,9})?$/.test(text))
    throw new UsageError(`--${name} is ${text}. Write a number such as 12.5.`)
  return Number(text)
}

export function required(name: string, text: string | undefined, example: string): string {
  if (text === undefined || text === '') throw new UsageError(`--${name} is missing.`, example)
  return text
}

interface Page<Item> {
  readonly data: readonly Item[]
  readonly next_cursor: string | null
}

/** One page, or with --all the items of all pages. */
export async function readList<Item>(
  { all, limit }: { readonly all: boolean; readonly limit: string | undefined },
  list: (page: { readonly limit: number }) => Promise<Page<Item>> & AsyncIterable<Item>,
): Promise<Page<Item>> {
  if (!all) return await list({ limit: wholeNumber('limit', limit) ?? DEFAULT_LIMIT })
  const data: Item[] = []
  for await (const item of list({ limit: 100 })) data.push(item)
  return { data, next_cursor: null }
}

/** Leaves out what is undefined, as the SDK's types want it. */
export const given = <T extends Readonly<Record<string, unknown>>>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>
  }

/** 2026-11-18 04:35, in UTC. */
export const shortTime = (iso: string | null): string | undefined =>
  iso === null ? undefined : iso.slice(0, 16).replace('T', ' ')
