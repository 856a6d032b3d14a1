import { type Concept, conceptsOf, isExact, isPlainWords } from '@market/kernel/search-words'
import { type RawBuilder, sql } from 'kysely'

type TsQuery = RawBuilder<unknown>

const phrase = (words: string): TsQuery => sql`phraseto_tsquery('english', ${words})`

/** A stop word is an empty query, which does not change the query that it is joined to. */
const either = (queries: readonly TsQuery[]): TsQuery => sql`(${sql.join(queries, sql` || `)})`
const all = (queries: readonly TsQuery[]): TsQuery => sql`(${sql.join(queries, sql` && `)})`

const wordsOrSynonyms = ({ words, synonyms }: Concept): TsQuery => either([words, ...synonyms].map(phrase))

/** A search as text queries of Postgres. */
export interface SearchQuery {
  readonly concepts: readonly Concept[]
  /** Whether synonyms can match more listings than the words. */
  readonly hasSynonyms: boolean
  /** The row `queries`: every text query of the search, parsed once. */
  readonly table: RawBuilder<unknown>
}

export function searchQueryOf(search: string): SearchQuery {
  const concepts = isExact(search) ? [] : conceptsOf(search)
  const queries = Object.entries(queriesOf(search, concepts)).map(
    ([name, query]) => sql`${query} as ${sql.ref(name)}`,
  )
  return {
    concepts,
    hasSynonyms:
      concepts.some(({ synonyms }) => synonyms.length > 0) || (concepts.length > 0 && !isPlainWords(search)),
    table: sql`queries as materialized (select ${sql.join(queries)})`,
  }
}

/** One of the text queries. As a subquery its value is unknown to the planner, so every search gets the same plan. */
export const queryNamed = (name: string): TsQuery => sql`(select ${sql.ref(name)} from queries)`

function queriesOf(search: string, concepts: readonly Concept[]): Record<string, TsQuery> {
  // Every word, with quotes and minus; stemmed or exact.
  const strict = sql`(websearch_to_tsquery('english', ${search}) || websearch_to_tsquery('simple', ${search}))`
  if (concepts.length === 0) return { strict, words: strict }
  const synonyms = concepts.flatMap((concept) => concept.synonyms.map(phrase))
  return {
    strict,
    /** Every concept, by its words or a synonym. */
    every_concept: all(concepts.map(wordsOrSynonyms)),
    /** Any concept, by its words or a synonym. */
    any_concept: either(concepts.map(wordsOrSynonyms)),
    /** The words only, without synonyms. */
    words: either(concepts.map(({ words }) => phrase(words))),
    ...(synonyms.length > 0 && { synonyms: either(synonyms) }),
    concepts: sql`greatest(1, ${sql.join(
      concepts.map(({ words }) => sql`(numnode(${phrase(words)}) > 0)::integer`),
      sql` + `,
    )})`,
    ...Object.fromEntries(
      concepts.flatMap(({ words, synonyms: names }, at) => [
        [`words_${at}`, phrase(words)],
        ...(names.length === 0 ? [] : [[`synonyms_${at}`, either(names.map(phrase))]]),
      ]),
    ),
  }
}
