/** Catalogues take names of at most 32 printable ASCII letters, and 5 such tags. */
const LONGEST_NAME = 32
const MOST_TAGS = 5
/** Longer than this nobody's catalogue shows. */
const LONGEST_LINE = 500

/**
 * What sellers write goes to other people's programs: letters lose their accents, and what then is no printable ASCII
 * is dropped, so that nothing looks like something else or breaks a line.
 */
const asciiOf = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()

/** Cut where a word ends, when one does in the second half. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const head = text.slice(0, most + 1)
  const end = head.lastIndexOf(' ')
  return (end > most / 2 ? head.slice(0, end) : text.slice(0, most)).trim()
}

/** A title as catalogues name it; what is in no Latin letters is named by its category. */
export const serviceName = ({ title, category }: { title: string; category: string }): string => {
  const name = cut(asciiOf(title), LONGEST_NAME)
  return /[A-Za-z0-9]{2}/.test(name) ? name : cut(asciiOf(`${category} service`), LONGEST_NAME)
}

export const tagsOf = (words: readonly string[]): string[] =>
  [...new Set(words.map((word) => cut(asciiOf(word), LONGEST_NAME).toLowerCase()))]
    .filter((tag) => tag !== '')
    .slice(0, MOST_TAGS)

/** A text on one line, whatever its letters, of a length that fits into a list. */
export const oneLine = (text: string): string => {
  const letters = [
    ...text
      .toWellFormed()
      .replace(/[\p{C}\p{Z}\s]+/gu, ' ')
      .trim(),
  ]
  return letters.length <= LONGEST_LINE ? letters.join('') : `${letters.slice(0, LONGEST_LINE - 1).join('')}…`
}
