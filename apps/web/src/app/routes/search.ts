import { textOf } from '../service-filter.ts'

export type Search = Readonly<Record<string, unknown>>

/** A parameter where it is given. */
export function optional<Name extends string>(
  name: Name,
  search: Search,
): { readonly [Key in Name]?: string } {
  const text = textOf(search[name])
  return text === undefined ? {} : ({ [name]: text } as { readonly [Key in Name]: string })
}

/** Of a list that is searched. */
export const pageOf = (search: Search) => ({ ...optional('search', search), ...optional('cursor', search) })

/** Of a list by status. */
export const listedOf = (search: Search) => ({ ...optional('status', search), ...optional('cursor', search) })
