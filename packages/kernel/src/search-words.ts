import { SYNONYMS } from './synonyms.ts'

/** A word or phrase of a search with its synonyms. */
export interface Concept {
  readonly words: string
  readonly synonyms: readonly string[]
}

/** More concepts make a search slower without better results. */
const MAX_CONCEPTS = 8
const MAX_PHRASE_WORDS = 3

/** The words in lower case, without punctuation. */
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** Singular and plural have the same synonyms. */
const singular = (word: string): string =>
  /[^su]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word

const keyOf = (words: readonly string[]): string => words.map(singular).join(' ')

const SYNONYMS_BY_PHRASE: ReadonlyMap<string, readonly string[]> = (() => {
  const synonyms = new Map<string, string[]>()
  for (const group of SYNONYMS) {
    for (const phrase of group) {
      const key = keyOf(wordsOf(phrase))
      synonyms.set(key, [...(synonyms.get(key) ?? []), ...group.filter((other) => other !== phrase)])
    }
  }
  return synonyms
})()

/** Splits a search into concepts: the longest phrases that have synonyms, and the other words. */
export function conceptsOf(search: string): Concept[] {
  const words = wordsOf(search)
  const concepts: Concept[] = []
  for (let at = 0; at < words.length && concepts.length < MAX_CONCEPTS; ) {
    const length = phraseLengthAt(words, at)
    const phrase = words.slice(at, at + length)
    concepts.push({
      words: phrase.join(' '),
      synonyms: [...new Set(SYNONYMS_BY_PHRASE.get(keyOf(phrase)) ?? [])],
    })
    at += length
  }
  return concepts
}

function phraseLengthAt(words: readonly string[], at: number): number {
  for (let length = Math.min(MAX_PHRASE_WORDS, words.length - at); length > 1; length--) {
    if (SYNONYMS_BY_PHRASE.has(keyOf(words.slice(at, at + length)))) return length
  }
  return 1
}

/** A search with quotes or a minus matches exact words, without synonyms. */
export const isExact = (search: string): boolean => /"|(^|\s)-\S/.test(search)

/** Whether `conceptsOf` and Postgres split the search into the same words. */
export const isPlainWords = (search: string): boolean =>
  /^[\p{L}\p{N}\s]*$/u.test(search) && wordsOf(search).length <= MAX_CONCEPTS
