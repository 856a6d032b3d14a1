export interface SearchTerms {
  /** Words and quoted phrases that must match, as they were written. */
  readonly required: string
  /** Each word or quoted phrase that must not match, without its minus. */
  readonly excluded: readonly string[]
}

/** A word or a quoted phrase, with the minus before it. A hyphen within a word is part of the word. */
const TERM = /(?<minus>-[-\s]*)?(?<term>"[^"]*"?|[^\s"]+)/gu
const HAS_WORD = /[\p{L}\p{N}]/u

/**
 * Separates the excluded words of a search. A word matches when its stem or its exact form does, so an excluded one must
 * not match in either form. Within one query of Postgres, the form that is absent would let the other one pass.
 */
export function parseSearch(search: string): SearchTerms {
  const terms = [...search.matchAll(TERM)].flatMap(({ groups }) => {
    const { minus, term = '' } = groups ?? {}
    return HAS_WORD.test(term) ? [{ term, isExcluded: minus !== undefined }] : []
  })
  const of = (isExcluded: boolean) =>
    terms.filter((one) => one.isExcluded === isExcluded).map(({ term }) => term)
  return { required: of(false).join(' '), excluded: of(true) }
}
