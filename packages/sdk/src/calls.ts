import type { ROUTES } from './generated/routes.ts'
import type { Operations } from './generated/types.ts'

export type OperationId = keyof Operations & keyof typeof ROUTES

/** `data` of the response. A list also has the fields beside it, such as `next_cursor`. */
export type Result<Id extends OperationId> = Operations[Id] extends { more: infer More }
  ? { readonly data: Operations[Id]['data'] } & Readonly<More>
  : Operations[Id]['data']

/** Await it for one page, or iterate over the items of all pages with `for await`. */
export type Listed<Page, Item> = Promise<Page> & AsyncIterable<Item>
