import { type RawBuilder, sql } from 'kysely'
import { type Concept, conceptsOf, isByTheLetter, isPlainWords } from './search-words.ts'

type TsQuery = RawBuilder<unknown>

const phrase = (words: string): TsQuery => sql`phraseto_tsquery('english', ${words})`

/** Stop words come out empty, and an empty query changes nothing it is joined to. */
const either = (queries: readonly TsQuery[]): TsQuery => sql`(${sql.join(queries, sql` || `)})`
const all = (queries: readonly TsQuery[]): TsQuery => sql`(${sql.join(queries, sql` && `)})`

const saidOrAkin = ({ said, akin }: Concept): TsQuery => either([said, ...akin].map(phrase))

/** A search as Postgres can be asked. */
export interface SearchQuery {
  readonly concepts: readonly Concept[]
  /** Whether asking for every concept under any of its names can find more than asking for every word. */
  readonly hasSynonyms: boolean
  /** The row `asked`: every text query of the search, parsed once. */
  readonly table: RawBuilder<unknown>
}

export function searchQueryOf(search: string): SearchQuery {
  const concepts = isByTheLetter(search) ? [] : conceptsOf(search)
  const queries = Object.entries(queriesOf(search, concepts)).map(
    ([name, query]) => sql`${query} as ${sql.ref(name)}`,
  )
  return {
    concepts,
    hasSynonyms:
      concepts.some(({ akin }) => akin.length > 0) || (concepts.length > 0 && !isPlainWords(search)),
    table: sql`asked as materialized (select ${sql.join(queries)})`,
  }
}

/** A query of the search. As a subquery its value is unknown to the planner, so every search gets the same plan. */
export const asked = (name: string): TsQuery => sql`(select ${sql.ref(name)} from asked)`

function queriesOf(search: string, concepts: readonly Concept[]): Record<string, TsQuery> {
  // Every word, quotes and minus as they stand; stemmed, or to the letter.
  const strict = sql`(websearch_to_tsquery('english', ${search}) || websearch_to_tsquery('simple', ${search}))`
  if (concepts.length === 0) return { strict, said: strict }
  const akin = concepts.flatMap((concept) => concept.akin.map(phrase))
  return {
    strict,
    /** Every concept, under any of its names. */
    meant: all(concepts.map(saidOrAkin)),
    /** Any concept, under any of its names. */
    loose: either(concepts.map(saidOrAkin)),
    /** The words themselves, and what they are also called. */
    said: either(concepts.map(({ said }) => phrase(said))),
    ...(akin.length > 0 && { akin: either(akin) }),
    concepts: sql`greatest(1, ${sql.join(
      concepts.map(({ said }) => sql`(numnode(${phrase(said)}) > 0)::integer`),
      sql` + `,
    )})`,
    ...Object.fromEntries(
      concepts.flatMap(({ said, akin: names }, at) => [
        [`said_${at}`, phrase(said)],
        ...(names.length === 0 ? [] : [[`akin_${at}`, either(names.map(phrase))]]),
      ]),
    ),
  }
}
