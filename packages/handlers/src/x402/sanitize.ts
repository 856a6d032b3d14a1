/** Limits of the catalogs that list us: names of at most 32 printable ASCII characters, and 5 such tags. */
const LONGEST_NAME = 32
const MOST_TAGS = 5

/**
 * Removes accents, then everything that is not printable ASCII, so that a seller's text cannot imitate another or break
 * a line in other catalogs.
 */
const asciiOf = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()

/** Cuts at the end of a word, when there is one in the second half. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const head = text.slice(0, most + 1)
  const end = head.lastIndexOf(' ')
  return (end > most / 2 ? head.slice(0, end) : text.slice(0, most)).trim()
}

/** The title for catalogs; a title without Latin letters is replaced by its category. */
export const serviceName = ({ title, category }: { title: string; category: string }): string => {
  const name = cut(asciiOf(title), LONGEST_NAME)
  return /[A-Za-z0-9]{2}/.test(name) ? name : cut(asciiOf(`${category} service`), LONGEST_NAME)
}

export const tagsOf = (words: readonly string[]): string[] =>
  [...new Set(words.map((word) => cut(asciiOf(word), LONGEST_NAME).toLowerCase()))]
    .filter((tag) => tag !== '')
    .slice(0, MOST_TAGS)

/** The whole text on one line. */
export const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim()
