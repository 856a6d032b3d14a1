/** Leaves space for a numeric suffix. */
const MAX_LENGTH = 80

/** The words of the title in lower case, joined by hyphens. Letters of all scripts are allowed. */
export function slugOf(title: string): string {
  const slug = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
  const short = [...slug]
    .slice(0, MAX_LENGTH)
    .join('')
    .replace(/^-+|-+$/g, '')
  return short === '' ? 'service' : short
}
