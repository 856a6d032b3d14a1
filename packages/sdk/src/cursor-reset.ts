import type { MarketError } from './errors.ts'

/** Where to continue when the server does not know the cursor any more, because its database was restored. */
export function cursorAfterReset({ code, body }: Pick<MarketError, 'code' | 'body'>): string | undefined {
  const cursor = (body as { readonly next_cursor?: unknown } | undefined)?.next_cursor
  return code === 'cursor_reset' && typeof cursor === 'string' ? cursor : undefined
}
