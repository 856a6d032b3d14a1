import { type RawBuilder, sql } from 'kysely'
import { type Concept, conceptsOf, isByTheLetter } from './search-words.ts'

type TsQuery = RawBuilder<unknown>

const phrase = (words: string): TsQuery => sql`phraseto_tsquery('english', ${words})`

/** Stop words come out empty, and an empty query changes nothing it is joined to. */
const NOTHING: TsQuery = sql`''::tsquery`

const either = (queries: readonly TsQuery[]): TsQuery =>
  queries.length === 0 ? NOTHING : sql`(${sql.join(queries, sql` || `)})`

const all = (queries: readonly TsQuery[]): TsQuery =>
  queries.length === 0 ? NOTHING : sql`(${sql.join(queries, sql` && `)})`

const saidOrAkin = ({ said, akin }: Concept): TsQuery => either([said, ...akin].map(phrase))

/** A search as Postgres can be asked, from narrow to wide. */
export interface SearchQuery {
  /** Every word, quotes and minus as they stand; stemmed, or to the letter. */
  readonly strict: TsQuery
  /** Every concept, under any of its names. */
  readonly meant: TsQuery
  /** Any concept, under any of its names. */
  readonly loose: TsQuery
  /** The words themselves, and what they are also called. */
  readonly said: TsQuery
  readonly akin: TsQuery
  readonly concepts: readonly { readonly said: TsQuery; readonly akin: TsQuery }[]
}

export function searchQueryOf(search: string): SearchQuery {
  const strict = sql`(websearch_to_tsquery('english', ${search}) || websearch_to_tsquery('simple', ${search}))`
  const concepts = isByTheLetter(search) ? [] : conceptsOf(search)
  return {
    strict,
    meant: concepts.length === 0 ? strict : all(concepts.map(saidOrAkin)),
    loose: concepts.length === 0 ? strict : either(concepts.map(saidOrAkin)),
    said: concepts.length === 0 ? strict : either(concepts.map(({ said }) => phrase(said))),
    akin: either(concepts.flatMap(({ akin }) => akin.map(phrase))),
    concepts: concepts.map(({ said, akin }) => ({ said: phrase(said), akin: either(akin.map(phrase)) })),
  }
}
