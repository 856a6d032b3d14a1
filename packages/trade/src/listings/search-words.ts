import { SYNONYMS } from './synonyms.ts'

/** One thing a search asks for: as it was said, and what else it may be called. */
export interface Concept {
  readonly said: string
  readonly akin: readonly string[]
}

/** More words make a search slower and no better. */
const MOST_CONCEPTS = 8
const LONGEST_PHRASE = 3

/** Plain words, lower case; what parts them is dropped. */
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** Singular and plural are looked up alike. */
const root = (word: string): string => (/[^su]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word)

const keyOf = (words: readonly string[]): string => words.map(root).join(' ')

const RINGS: ReadonlyMap<string, readonly string[]> = (() => {
  const rings = new Map<string, string[]>()
  for (const ring of SYNONYMS) {
    for (const phrase of ring) {
      const key = keyOf(wordsOf(phrase))
      rings.set(key, [...(rings.get(key) ?? []), ...ring.filter((other) => other !== phrase)])
    }
  }
  return rings
})()

/** Splits a search into concepts: the longest phrase that has synonyms is one, every other word is its own. */
export function conceptsOf(search: string): Concept[] {
  const words = wordsOf(search)
  const concepts: Concept[] = []
  for (let at = 0; at < words.length && concepts.length < MOST_CONCEPTS; ) {
    const length = phraseLengthAt(words, at)
    const phrase = words.slice(at, at + length)
    concepts.push({ said: phrase.join(' '), akin: [...new Set(RINGS.get(keyOf(phrase)) ?? [])] })
    at += length
  }
  return concepts
}

function phraseLengthAt(words: readonly string[], at: number): number {
  for (let length = Math.min(LONGEST_PHRASE, words.length - at); length > 1; length--) {
    if (RINGS.has(keyOf(words.slice(at, at + length)))) return length
  }
  return 1
}

/** Quotes and a minus mean exactly what they say: such a search is taken by the letter, without synonyms. */
export const isByTheLetter = (search: string): boolean => /"|(^|\s)-\S/.test(search)

/** Such a search asks Postgres for the same words, whether it is split into words here or there. */
export const isPlainWords = (search: string): boolean =>
  /^[\p{L}\p{N}\s]*$/u.test(search) && wordsOf(search).length <= MOST_CONCEPTS
